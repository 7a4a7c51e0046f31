"""Random sessions of messages, right and wrong: each request has one answer, and what is said of a
document is what a fresh look at its text gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from drive_trace.features.findings import RECORD_KIND
from drive_trace.lsp import server as server_module
from tests.server.support import ALL_TRACES
from tests.support.client_text import ENCODINGS, event, graded
from tests.support.drawing import examples
from tests.support.sessions.aids import Aids
from tests.support.sessions.asking import Ask
from tests.support.sessions.channels import InProcess
from tests.support.sessions.conversation import PARAMS, Conversation
from tests.support.sessions.model import ALL_MEMBERS, Client, World, folder_of, write_disk
from tests.support.sessions.places import ANY
from tests.support.sessions.pulling import PullAll
from tests.support.sessions.steps import (
    OPEN,
    RIGHT,
    SETTLE,
    Actions,
    Change,
    Open,
    ShowRun,
    Splice,
    weighted,
)
from tests.support.sessions.texts import DISK
from tests.support.sessions.wrong import WRONG, Refused, Reversed

pytestmark = pytest.mark.timeout(600)  # to find the smallest session that fails takes its time


@dataclass(frozen=True)
class Session:
    """What a client does; steps without a `Settle` between them arrive in one burst."""

    client: Client
    has_folder: bool
    early: list[Any]
    """Before `initialize`."""
    opened: list[Any]
    steps: list[Any]
    late: list[Any] | None
    """After `shutdown`, if that is sent; before it comes a request that takes its time."""

    def play(self, channel: InProcess, disk: dict[str, str]) -> None:
        world = World(self.client, disk)
        conversation = Conversation(world, channel)
        self._play(conversation, self.early)
        folders = [folder_of(next(iter(disk)))] if self.has_folder else []
        params = {
            "processId": None,
            "rootUri": None,
            "capabilities": self.client.capabilities(),
            "workspaceFolders": [{"uri": each, "name": "x"} for each in folders],
            **ALL_TRACES,
        }
        conversation.ask("initialize", params)
        conversation.phase = "ready"
        world.folders.update(folders)
        conversation.note()
        self._play(conversation, [*self.opened, *self.steps])
        self._play(conversation, [PullAll("own", None, None)])
        if self.late is not None:
            PullAll("none", None, None).play(conversation)
            conversation.ask("shutdown", check=_is_none)
            conversation.cancel_all()
            conversation.phase = "down"
            self._play(conversation, self.late)
        assert conversation.finish() == (1 if self.late is None else 0)

    def _play(self, conversation: Conversation, steps: list[Any]) -> None:
        for step in steps:
            step.play(conversation)
        conversation.settle()


def _is_none(result: Any) -> None:
    assert result is None


CLIENTS = st.builds(
    Client,
    encoding=st.sampled_from(ENCODINGS),
    pulls=st.booleans(),
    members=st.none() | st.frozensets(st.sampled_from(sorted(ALL_MEMBERS))),
    document_changes=st.booleans(),
    literal_actions=st.booleans(),
    lazy_actions=st.booleans(),
    rich=st.booleans(),
    markdown=st.booleans(),
    refreshes=st.booleans(),
    shows_documents=st.booleans(),
    answers=st.sampled_from(["result", "result", "error", "twice", "never"]),
)
STEPS = weighted((3, SETTLE), (6, RIGHT), (3, WRONG))
SESSION = st.builds(
    Session,
    CLIENTS,
    st.booleans(),
    st.lists(WRONG | OPEN, max_size=2),
    st.lists(OPEN, min_size=1, max_size=2),
    st.lists(STEPS, min_size=8, max_size=20),
    st.none() | st.lists(STEPS, max_size=3),
)


_DISPATCH = event("dispatch-start", run=["alpha"], dispatch_id="d1")
ID_OF_A_DISPATCH = Session(
    Client(),
    has_folder=True,
    early=[],
    opened=[Open(0, _DISPATCH, 1)],
    steps=[Ask("textDocument/completion", 0, (_DISPATCH.index('"d1"') + 2, 0), None)],
    late=None,
)
"""A dispatch that starts is offered a fresh id."""
_PASSED = graded("pass", "pass", "pass", project_run_id="alpha")
GRADE_THAT_IS_REFUSED = Session(
    Client(literal_actions=False),
    has_folder=False,
    early=[],
    opened=[Open(ANY + 2, _PASSED + '{"event_type":"correctness-recorded","event_type":5}\n', 1)],
    steps=[Actions(0, (0, 0), 0, (RECORD_KIND,))],
    late=None,
)
"""Whether the second line was meant as a grade is looked at when the offer is picked."""
START_OF_A_FILE = Session(
    Client(),
    has_folder=False,
    early=[],
    opened=[Open(ANY + 4, _PASSED, 1)],
    steps=[Ask("textDocument/willSaveWaitUntil", 0, (0, 0), None)],
    late=None,
)
"""What stands behind it in the file may have been appended since it was read."""
EVENTS_BEFORE_THE_TRACE = Session(
    Client(),
    has_folder=False,
    early=[],
    opened=[Open(ANY + 2, _PASSED, 1)],
    steps=[Ask("driveTrace/events", ANY, (0, 0), None), Open(ANY, _PASSED, 1)],
    late=None,
)
"""A list is made while other messages come, and may be of a trace that these have opened."""

COMPLETION_BEFORE_A_CHANGE = Session(
    Client(),
    has_folder=False,
    early=[],
    opened=[Open(ANY + 2, "\n", 1)],
    steps=[
        Ask("textDocument/completion", 0, (0, 0), None),
        Change(0, (Splice(0, 0, "\u0301", (0, 0), False),), 1),
    ],
    late=None,
)
"""Its place is one of the text before the change."""
ACTIONS_BEFORE_A_CHANGE = replace(
    COMPLETION_BEFORE_A_CHANGE,
    opened=[Open(ANY + 2, _PASSED, 1)],
    steps=[Reversed(0), Change(0, (), 1)],
)
"""The same of a range."""
ONE_ID_FOR_THREE = Session(
    Client(),
    has_folder=False,
    early=[],
    opened=[Open(ANY + 2, _PASSED, 1)],
    steps=[
        Refused("textDocument/hover", {"position": {"line": -1}}, PARAMS, 0),
        Aids(0, (0, 0), 0),
        ShowRun(0, "alpha", 0),
    ],
    late=None,
)
"""The answers are an error, an object and a text, in any order."""


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Session, bool], None]]:
    """Plays a session, with traces on disk, and a folder for what a server writes."""
    folder = tmp_path_factory.mktemp("sessions")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DRIVE_TRACE_CACHE", str(folder / "cache"))
        # All servers read and write messages in the same way, which takes long to prepare.
        patched.setattr(server_module, "strict_converter", cache(server_module.strict_converter))
        disk = write_disk(folder, DISK)

        def play(session: Session, reads_ahead: bool) -> None:
            channel = InProcess(reads_ahead=reads_ahead)
            try:
                session.play(channel, disk)
            finally:
                channel.close()

        yield play


@settings(
    max_examples=examples(400),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(session=SESSION, reads_ahead=st.booleans())
@example(session=ID_OF_A_DISPATCH, reads_ahead=False).via("the oracle knew no id for a dispatch")
@example(session=GRADE_THAT_IS_REFUSED, reads_ahead=False).via("the oracle knew no refused grade")
@example(session=START_OF_A_FILE, reads_ahead=False).via("the oracle knew no old text")
@example(session=EVENTS_BEFORE_THE_TRACE, reads_ahead=False).via("the oracle knew no later text")
@example(session=COMPLETION_BEFORE_A_CHANGE, reads_ahead=False).via("made of a later text")
@example(session=ACTIONS_BEFORE_A_CHANGE, reads_ahead=False).via("the oracle knew no change")
@example(session=ONE_ID_FOR_THREE, reads_ahead=False).via("the oracle asked an object for a text")
def test_random_sessions(
    play: Callable[[Session, bool], None], session: Session, reads_ahead: bool
) -> None:
    play(session, reads_ahead)
