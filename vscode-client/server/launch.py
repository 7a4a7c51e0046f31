"""Runs the drive-trace that lies beside this file, on any interpreter that has a folder here.

To be started with ``-I -S``: then nothing else is imported but the standard library, whatever is
installed in the interpreter, and whatever the environment says.
"""

import sys
from pathlib import Path

here = Path(__file__).resolve().parent
compiled = "cp{}{}".format(*sys.version_info)
sys.path[:0] = [str(here / "pure"), str(here / compiled)]

from drive_trace.__main__ import main  # noqa: E402 - it is found only now

main()
