"""A process that writes to a trace as often as it can, as the commands do.

``python -m tests.storage.writers TRACE NAME COUNT VERDICTS [OTHER…]``: that many events, named
after the writer and numbered; the last of every ``COUNT / VERDICTS`` of them is a grade instead,
merged with what the other traces say. What has been written is said on standard output, a line
each.
"""

import json
import os
import sys

from drive_trace.authoring.drafts import draft_event
from drive_trace.storage.recording import Appended, Merged, record_feed
from drive_trace.vocabulary import CORRECTNESS_FIELDS, GRADE
from tests.storage.support import append_event


def main() -> None:
    trace, name, count, verdicts = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    every = count // verdicts if verdicts else count + 1
    for number in range(1, count + 1):
        if number % every == 0:
            grade(trace, name, number // every, sys.argv[5:])
        else:
            emit(trace, name, number)


def emit(trace: str, name: str, number: int) -> None:
    payload = {"slice_slug": f"{name}-{number}", "slice_index": number, "linear_ref": "é" * 40}
    draft = draft_event("slice-started", name, None, json.dumps(payload))
    written = append_event(trace, draft)
    assert isinstance(written, Appended), written
    say(f"slice {number}")


def grade(trace: str, name: str, number: int, others: list[str]) -> None:
    """Each component in turn, in a run that all writers share and in one of its own."""
    component = CORRECTNESS_FIELDS[number % 3]
    value = "pass" if number % 2 else "fail"
    for run in (name, "shared"):
        merged = record_feed(trace, GRADE, run, {component: value}, new_run=True, beside=others)
        assert isinstance(merged, Merged), merged
        say(f"{run} {component} {value} {merged.written.record}")


def say(words: str) -> None:
    os.write(1, f"{words}\n".encode())


if __name__ == "__main__":
    main()
