"""Run the command line as ``python -m deltatape``."""

import sys

from deltatape.cli import main

if __name__ == "__main__":
    sys.exit(main())
