"""Start of the launcher in an image: the text of /rra/bin/rra below its first line.

The builder copies this file there as it is, below a line `#!<interpreter> -ISB`, and this package to
/rra/lib/reprobridge_launcher.  Those options keep the start apart from everything around it: no variables of
the environment (-I), no site-packages (-S), no bytecode written (-B).
"""

import os
import sys

if __name__ == "__main__":
    root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    sys.path.insert(0, os.path.join(root, "lib"))
    from reprobridge_launcher.main import main

    sys.exit(main(sys.argv[1:], root))
