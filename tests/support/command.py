"""The installed command, as a shell would start it."""

import os
import sys
import sysconfig
from pathlib import Path

from tests.support import tap

COMMAND = str(Path(sysconfig.get_path("scripts"), "drive-trace"))

_TAP = (sys.executable, "-I", "-S", tap.__file__) if tap.FOLDER in os.environ else ()
SERVE = (*_TAP, COMMAND, "serve")
"""With its messages recorded, where that is asked for."""
