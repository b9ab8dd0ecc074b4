"""`python -m reprobridge` is the same command as `reprobridge`."""

from reprobridge.cli.main import main

raise SystemExit(main())
