"""What ``emit`` needs of files: the trace as it is under its lock, and the file of a brief, a spec
or a plan.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import astuple

from drive_trace.authoring.drafts import Refused
from drive_trace.authoring.emitting import Wanted, fill
from drive_trace.scorecard.feed_state import mentions
from drive_trace.scorecard.scoring import ScoredTrace
from drive_trace.storage.files import Problem, git_folder_of, records_of, why_not_read
from drive_trace.storage.projects import absolute, relative
from drive_trace.storage.recording import NewEvent, new_stamp
from drive_trace.text.wording import shown
from drive_trace.vocabulary import EVENTS, FILES, WRITERS, promised_run

_AUTHORED = {name: field for field, (name, *_) in WRITERS.items()}


def filled(
    wanted: Mapping[str, Wanted],
    data: bytes,
    path: str,
    run_id: str | None,
    promised: str | None = None,
) -> list[NewEvent] | Refused:
    """Make events for the end of a trace with these bytes, for
    :func:`drive_trace.storage.recording.append_events`. Each sees those before it. ``wanted`` is by
    where it is wanted, as ``line 3: ``, or empty; ``run_id`` is None for the run that is open, and
    ``promised`` for the one that the path tells.
    """
    trace = ScoredTrace(records_of(data), only_score=False)
    promised = promised or promised_run(absolute(path))
    made: list[NewEvent] = []
    for where, each in wanted.items():
        stamp = new_stamp()
        found = fill(each, trace, stamp, run_id, promised)
        if isinstance(found, Refused):
            return Refused(tuple(f"{where}{reason}" for reason in found.reasons))
        draft, run = found.draft, trace.index.runs.get(found.draft.run_id)
        new = f"begins a new {'run' if made or data.strip() else 'trace'}: {shown(draft.run_id)}"
        notes = [new] * (not mentions(trace.index, draft.run_id))
        name, field = draft.event.name, _AUTHORED.get(draft.event.name)
        if field and run is not None and run.of(name, field, draft.payload[field]):
            notes.append(
                f"this {field[:4]} was authored before: `{field[:4]}-amended` tells a change"
            )
        made.append(NewEvent(*found, stamp.ts, (*notes,)))
        trace.append(draft.record(stamp))
    return made


def measured(event: str, file: str) -> Mapping[str, object] | Refused | Problem:
    """What an event says of a file that somebody names: its length and hash, or its path from the
    root of its repository, without one from the current folder.
    """
    from drive_trace.storage.linked_files import length_and_sha256  # noqa: PLC0415 - few name one

    path = Path(os.path.realpath(Path(file).parent), Path(file).name)
    root = next((each for each in path.parents if git_folder_of(each) is not None), Path.cwd())
    try:
        length, sha256 = length_and_sha256(path)
    except (OSError, ValueError) as error:
        return Problem(file, why_not_read(error))
    told = (relative(str(path), str(root)), length, sha256)
    facts = {name: value for each in FILES for name, value in zip(astuple(each), told, strict=True)}
    fields = EVENTS[event].fields if event in EVENTS else {}
    found = {name: facts[name] for name in fields if name in facts}
    if fields and not found:
        return Refused((f"`{event}` is about no file",))
    is_outside = told[0] in found.values() and not path.is_relative_to(root)
    return Problem(file, "stands in no repository") if is_outside else found
