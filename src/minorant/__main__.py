"""`python -m minorant` is the command `minorant`."""

import sys

from minorant.cli import main

sys.exit(main())
