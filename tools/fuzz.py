"""Runs the property tests on new random data, again and again, until one fails or time is up."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PYTEST = [sys.executable, "-m", "pytest"]
COMMAND = [*PYTEST, "-m", "hypothesis", "--hypothesis-profile=fuzz", "-x", "-n", "auto"]
GRACE = 12 * 60
"""Seconds that the last pass has to end: what it finds takes a while to be made small."""
KEEP = """
The last lines above that begin with `E` show the smallest data found that fails. To keep it, put
it above the test, under its `@given`, with a name for what is wrong, and mend what is wrong:

    @example(text="…").via("what is wrong, in a few words")

`make pytest` tries it from then on. Until then, `make fuzz` begins with it: it stands in
.hypothesis/examples.
"""


def main() -> int:
    """Explore for so many minutes, and until the last pass has ended; pytest's exit code where
    something was found, 1 where it is not known.
    """
    minutes = float(sys.argv[1])
    end, passes = time.monotonic() + minutes * 60, 0
    while (left := end - time.monotonic()) > 0:
        try:
            done = subprocess.run(COMMAND, cwd=ROOT, timeout=left + GRACE, check=False)  # noqa: S603
        except subprocess.TimeoutExpired:
            sys.stdout.write(
                f"fuzz: cut off in pass {passes + 1}, which may have found something\n"
            )
            return 1
        if done.returncode == pytest.ExitCode.TESTS_FAILED:
            sys.stdout.write(KEEP)
        if done.returncode != pytest.ExitCode.OK:
            return done.returncode
        passes += 1
    if not passes:
        sys.stdout.write("fuzz: nothing was tried\n")
        return 1
    sys.stdout.write(f"fuzz: nothing found in {minutes:g} minutes, {passes} whole passes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
