"""The command line: `main.py` dispatches, prints errors and exits; one module a command."""
