"""`python -m toolwright`."""

import sys

from toolwright.cli import main

sys.exit(main())
