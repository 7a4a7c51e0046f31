"""Random sessions of messages, right and wrong: each request has one answer, and what is said of a
document is what a fresh look at its text gives.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from drive_trace.lsp import server as server_module
from tests.server.support import ALL_TRACES
from tests.support.client_text import ENCODINGS
from tests.support.drawing import examples
from tests.support.sessions.asking import ask
from tests.support.sessions.channels import InProcess
from tests.support.sessions.conversation import Conversation
from tests.support.sessions.model import ALL_MEMBERS, Client, World, folder_of, write_disk
from tests.support.sessions.places import ANY
from tests.support.sessions.steps import (
    OPEN,
    RIGHT,
    SETTLE,
    Splice,
    Step,
    change,
    open_,
    pull_all,
    weighted,
)
from tests.support.sessions.texts import DISK
from tests.support.sessions.wrong import WRONG

pytestmark = pytest.mark.timeout(600)  # to find the smallest session that fails takes its time


@dataclass(frozen=True)
class Session:
    """What a client does; steps without a `settle` between them arrive in one burst."""

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
        self._play(conversation, [Step(pull_all, ("own", None, None))])
        if self.late is not None:
            pull_all(conversation, "none", None, None)
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


COMPLETION_BEFORE_A_CHANGE = Session(
    Client(),
    has_folder=False,
    early=[],
    opened=[Step(open_, (ANY + 2, "\n", 1))],
    steps=[
        Step(ask, ("textDocument/completion", 0, (0, 0), None)),
        Step(change, (0, (Splice(0, 0, "\u0301", (0, 0), False),), 1)),
    ],
    late=None,
)
"""Its place is one of the text before the change."""


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
@example(session=COMPLETION_BEFORE_A_CHANGE, reads_ahead=False).via("made of a later text")
def test_random_sessions(
    play: Callable[[Session, bool], None], session: Session, reads_ahead: bool
) -> None:
    play(session, reads_ahead)
