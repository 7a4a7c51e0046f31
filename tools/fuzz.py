"""Runs the property tests on new random data, again and again, until one fails or time is up."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from secrets import randbelow
from threading import Timer

import pytest

ROOT = Path(__file__).parent.parent
EXPLORE = ["-m", "pytest", "-m", "hypothesis"]
COMMAND = [*EXPLORE, "--hypothesis-show-statistics", "-n", "auto", "-o", "timeout=1800"]
GRACE = 12 * 60
"""Seconds that the last pass has to end: what it finds takes a while to be made small."""
TEST = re.compile(r"(tests/\S+::\w+):")
DRAWN = re.compile(r" +- (\d+) passing\D+(\d+) failing")
FAILED = re.compile(r"FAILED (\S+::\w+)")
KEEP = """
The last lines above that begin with `E` show the smallest data found that fails. To see it again:

    .venv/bin/python {explore} --hypothesis-profile={profile} --hypothesis-seed={seed} TEST

To keep it, put it above the test, under its `@given`, with a name for what is wrong, and mend what
is wrong:

    @example(text="…").via("what is wrong, in a few words")

`make pytest` tries it from then on. Until then, `make fuzz` begins with it: it stands in
.hypothesis/examples.
"""


class Tally:
    """What the tests have drawn, as pytest and hypothesis tell it."""

    def __init__(self) -> None:
        self.drawn: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self._test = ""

    def take(self, line: str) -> None:
        """Take in a line of their output."""
        if test := TEST.match(line):
            self._test = test[1]
        elif drawn := DRAWN.match(line):
            self.drawn[self._test] += int(drawn[1]) + int(drawn[2])
        elif failed := FAILED.match(line):
            self.found[failed[1]] += 1

    def table(self) -> str:
        """A line for each test, and one for all, over all passes."""
        tests = sorted(self.drawn.keys() | self.found.keys())
        rows = [(self.drawn[each], self.found[each], each) for each in tests]
        rows.append((self.drawn.total(), self.found.total(), "all"))
        lines = [f"{drawn:>11,} {found:>5,} {name}\n" for drawn, found, name in rows]
        return "\n executions finds test\n" + "".join(lines)


def run(profile: str, seed: int, seconds: float, tally: Tally) -> int:
    """One pass; pytest's exit code, which is negative if it was cut off."""
    chosen = [f"--hypothesis-profile={profile}", f"--hypothesis-seed={seed}"]
    command = [sys.executable, *COMMAND, *chosen]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:  # noqa: S603
        assert running.stdout is not None
        timer = Timer(seconds, running.kill)
        timer.start()
        for line in running.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            tally.take(line)
        timer.cancel()
    return running.returncode


def main() -> int:
    """Explore for so many minutes, and until the last pass has ended; pytest's exit code where
    something was found, 1 where it is not known.
    """
    minutes = float(sys.argv[1])
    end, passes, code, tally = time.monotonic() + minutes * 60, 0, 0, Tally()
    while not code and (left := end - time.monotonic()) > 0:
        # A first pass of a minute or two, so that a short run has something to say.
        profile, seed = "fuzz" if passes else "glance", randbelow(2**32)
        sys.stdout.write(f"fuzz: pass {passes + 1}, seed {seed}\n")
        code = run(profile, seed, left + GRACE, tally)
        passes += code == 0
        sys.stdout.write(tally.table())
        sys.stdout.flush()
    if code == pytest.ExitCode.TESTS_FAILED:
        sys.stdout.write(KEEP.format(explore=" ".join(EXPLORE), profile=profile, seed=seed))
    elif code < 0:
        sys.stdout.write(f"fuzz: cut off in pass {passes + 1}, which may have found something\n")
    elif not tally.drawn.total():
        sys.stdout.write("fuzz: nothing was tried\n")
    elif not code:
        sys.stdout.write(f"fuzz: nothing found in {minutes:g} minutes, {passes} whole passes\n")
        return 0
    return max(code, 1)


if __name__ == "__main__":
    sys.exit(main())
