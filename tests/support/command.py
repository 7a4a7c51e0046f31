"""The installed command, as a shell would start it."""

from __future__ import annotations

import sysconfig
from pathlib import Path

COMMAND = str(Path(sysconfig.get_path("scripts"), "drive-trace"))
SERVE = (COMMAND, "serve")
