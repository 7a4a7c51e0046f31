"""What a client that is right does: the steps of a session, which know nothing of its state.

A step says which of the documents it is about, and where, by numbers that `places` takes modulo
what is there, so that a session is still one when steps are taken out of it.
"""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st
from lsprotocol import types
from lsprotocol.converters import get_converter

from drive_trace.analysis import Analysis
from drive_trace.features.findings import KINDS, RECORD_KIND
from drive_trace.features.hover import hover
from drive_trace.features.referents import HoverOptions
from drive_trace.features.results import View
from drive_trace.features.runs import code_lenses, resolve_lens
from drive_trace.storage.linked_files import rule_url
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.document import Position
from tests.support.editor import is_about_rule
from tests.support.others import hover_alone, lens_alone
from tests.support.sessions.aids import Aids
from tests.support.sessions.asking import FIND_NAMES, asks, check_fixes
from tests.support.sessions.conversation import FAILED, MODIFIED, OK, PARAMS, Check, Conversation
from tests.support.sessions.model import folder_of, position
from tests.support.sessions.places import ANY, IDS, place, uri_of, whole
from tests.support.sessions.pulling import Pull, PullAll
from tests.support.sessions.texts import SNIPPETS, TEXTS

PLAIN = get_converter()
_ODD = re.compile("[^ -~]")
APPLY_ACTION, SHOW_RUN = "driveTrace.applyAction", "driveTrace.showRun"


@dataclass(frozen=True)
class Open:
    uri: int
    text: str
    version: int

    def play(self, conversation: Conversation) -> None:
        conversation.open(uri_of(conversation, self.uri), self.text, self.version)


@dataclass(frozen=True)
class Close:
    uri: int

    def play(self, conversation: Conversation) -> None:
        conversation.close(uri_of(conversation, self.uri))


@dataclass(frozen=True)
class Splice:
    """A change of a part, or with no `start` of the whole; a negative length reverses the range.

    `beyond` is added to the end's line and character; `snaps` has it begin at the next character
    that is not as wide everywhere, or ends a line.
    """

    start: int | None
    length: int
    text: str
    beyond: tuple[int, int]
    snaps: bool

    def event(self, text: str, encoding: str) -> dict[str, Any]:
        if self.start is None:
            return {"text": self.text}
        first = self.start % (len(text) + 1)
        if self.snaps and (odd := _ODD.search(text, first)) is not None:
            first = odd.end() if self.start % 2 else odd.start()
        last = max(0, min(len(text), first + self.length))
        start, end = (position(text, each, encoding) for each in (first, last))
        end = {"line": end["line"] + self.beyond[0], "character": end["character"] + self.beyond[1]}
        return {"range": {"start": start, "end": end}, "text": self.text}


@dataclass(frozen=True)
class Change:
    """Several changes in one notification, each of the text that the one before it made."""

    uri: int
    splices: tuple[Splice, ...]
    step: int
    """From the present version to the next: a negative one is stale."""

    def play(self, conversation: Conversation) -> None:
        uri = uri_of(conversation, self.uri)
        buffer, encoding = conversation.buffer(uri), conversation.world.client.encoding
        version, text = (buffer.version, buffer.text) if buffer else (1, "some text\n")
        changes: list[Any] = []
        for splice in self.splices:
            draft = type(buffer)(version, text) if buffer else None
            changes.append(splice.event(text, encoding))
            if draft is not None:
                draft.change(version, changes[-1:], encoding)
                text = draft.text
        conversation.change(uri, version + self.step, changes)


@dataclass(frozen=True)
class Hover:
    uri: int
    place: int
    message_id: Any

    def play(self, conversation: Conversation) -> None:
        uri, client = uri_of(conversation, self.uri), conversation.world.client
        at, buffer = place(conversation, uri, self.place), conversation.buffer(uri)
        text = buffer.text if buffer else None

        def check(result: Any) -> None:
            if text is None:
                assert result is None
                return
            analysis, encoding = Analysis(text), PositionEncoding(client.encoding)
            point = analysis.document.point_at(Position(**at), encoding)
            kind = types.MarkupKind.Markdown if client.markdown else types.MarkupKind.PlainText
            options = HoverOptions(uri=uri, now=datetime.now(UTC), url_of=rule_url)
            if result is not None:
                result["contents"]["value"] = hover_alone(result["contents"]["value"])
            assert result == PLAIN.unstructure(
                hover(View(analysis, encoding), point, kind, options)
            )

        params = {"textDocument": {"uri": uri}, "position": at}
        conversation.ask("textDocument/hover", params, message_id=self.message_id, check=check)


@dataclass(frozen=True)
class Lenses:
    """The lenses of a document, of which some are resolved later, when they may be stale."""

    uri: int
    message_id: Any
    resolves: bool

    def play(self, conversation: Conversation) -> None:
        uri = uri_of(conversation, self.uri)
        buffer = conversation.buffer(uri)
        analysis = Analysis(buffer.text if buffer else "")
        fresh = code_lenses(analysis, uri) if buffer else []

        def check(result: Any) -> None:
            assert [_bare(each) for each in result] == [_bare(PLAIN.unstructure(x)) for x in fresh]
            conversation.lenses = result

        params = {"textDocument": {"uri": uri}}
        conversation.ask("textDocument/codeLens", params, message_id=self.message_id, check=check)
        if self.resolves and conversation.phase == "ready":
            conversation.lenses = []
            conversation.settle()
            for lens, other in zip(conversation.lenses, fresh, strict=False):  # if not cancelled
                wanted = resolve_lens(analysis, other).command
                conversation.ask("codeLens/resolve", lens, check=_has_command(wanted))


def _bare(lens: Any) -> Any:
    """Without what says nothing to anyone but the server that made it."""
    return {**lens, "data": {**lens["data"], "order": None}}


def _has_command(command: types.Command | None) -> Check:
    def check(lens: Any) -> None:
        lens["command"]["title"] = lens_alone(lens["command"]["title"])
        assert lens["command"] == PLAIN.unstructure(command)

    return check


@dataclass(frozen=True)
class ResolveOld:
    """Lenses that were given some time ago."""

    message_id: Any

    def play(self, conversation: Conversation) -> None:
        for lens in conversation.lenses[:2]:
            conversation.ask("codeLens/resolve", lens, message_id=self.message_id)


@dataclass(frozen=True)
class Actions:
    """Code actions of a range, or of the whole text; one is picked, and its edit carried out."""

    uri: int
    places: tuple[int, int]
    pick: int | None
    only: tuple[str, ...]

    def play(self, conversation: Conversation) -> None:
        uri = uri_of(conversation, self.uri)
        start, end = (place(conversation, uri, each) for each in self.places)
        picks = self.pick is not None and conversation.phase == "ready"
        where = whole(conversation, uri) if picks else {"start": start, "end": end}
        context = {"diagnostics": [], **({"only": list(self.only)} if self.only else {})}
        params = {"textDocument": {"uri": uri}, "range": where, "context": context}
        if not picks or conversation.buffer(uri) is None:
            conversation.ask("textDocument/codeAction", params, codes={OK, MODIFIED})
            return
        actions = conversation.result("textDocument/codeAction", params)
        check_fixes(conversation, uri, params, actions)
        actions = [each for each in actions or () if not is_about_rule(each)]
        if actions and self.pick is not None:
            self._take(conversation, uri, actions[self.pick % len(actions)])

    def _take(self, conversation: Conversation, uri: str, action: Any) -> None:
        client, buffer = conversation.world.client, conversation.buffer(uri)
        assert buffer is not None
        if "edit" not in action:
            assert client.lazy_actions
            refusals = _refusals(action["data"])
            action = conversation.result("codeAction/resolve", action, *refusals)
            if action is None and refusals:
                return
        assert ("documentChanges" in action["edit"]) == client.document_changes
        if client.document_changes:
            (change,) = action["edit"]["documentChanges"]
            assert change["textDocument"] == {"uri": uri, "version": buffer.version}
            conversation.edit(uri, change["edits"])
        else:
            conversation.edit(uri, action["edit"]["changes"][uri])


def _refusals(data: Any) -> tuple[int, ...]:
    """A grade is offered after a short look at the lines that may be meant as one, and refused
    after a look at all of them.
    """
    return (FAILED,) if data.get("kind") == RECORD_KIND else ()


@dataclass(frozen=True)
class ShowRun:
    uri: int
    run: str
    message_id: Any

    def play(self, conversation: Conversation) -> None:
        uri = uri_of(conversation, self.uri)
        conversation.note(uri)

        def check(result: Any) -> None:
            texts = {each.text for each in conversation.states_of(uri) if each.version is not None}
            assert any(Analysis(text).index.names(self.run) for text in texts if text is not None)
            assert result.startswith("**") == conversation.world.client.markdown

        argument = {"uri": uri, "runId": self.run}
        params = {"command": SHOW_RUN, "arguments": [argument]}
        conversation.ask(
            "workspace/executeCommand",
            params,
            message_id=self.message_id,
            codes=(OK, PARAMS),
            check=check,
        )


@dataclass(frozen=True)
class Configure:
    settings: Any

    def play(self, conversation: Conversation) -> None:
        conversation.notify("workspace/didChangeConfiguration", {"settings": self.settings})
        if conversation.phase == "ready":
            world = conversation.world
            world.settings = world.settings.updated(self.settings)
            conversation.note()


@dataclass(frozen=True)
class Folders:
    """The folder of a document comes into the workspace, or leaves it."""

    uri: int
    comes: bool

    def play(self, conversation: Conversation) -> None:
        folder = folder_of(uri_of(conversation, self.uri))
        changed, other = [{"uri": folder, "name": "x"}], [{"uri": "untitled:x", "name": "x"}]
        added, removed = (changed, []) if self.comes else (other, changed)
        event = {"added": added, "removed": removed}
        conversation.notify("workspace/didChangeWorkspaceFolders", {"event": event})
        if conversation.phase == "ready":
            world = conversation.world
            world.folders = world.folders | {folder} if self.comes else world.folders - {folder}
            conversation.note()


@dataclass(frozen=True)
class TakenBack:
    """A request that is cancelled at once."""

    step: Hover | Pull | PullAll | ShowRun
    message_id: Any

    def play(self, conversation: Conversation) -> None:
        replace(self.step, message_id=self.message_id).play(conversation)
        conversation.cancel(self.message_id)


@dataclass(frozen=True)
class Settle:
    """A pause: the server does what there is to do, and is looked at."""

    def play(self, conversation: Conversation) -> None:
        conversation.settle()


def weighted(*given: tuple[int, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """One of several, as often as it says; `one_of` takes each once, whatever it is given."""
    every = [strategy for weight, strategy in given for _ in range(weight)]
    return st.sampled_from(every).flatmap(lambda strategy: strategy)


_NUMBERS = st.integers(0, 3000)
_EVERY = st.sampled_from([ANY + each for each in (2, 0, 3, 1, 4, 5, 6, 7)])
URIS = st.sampled_from([*[0] * 8, 1, 1, 1, 2, ANY, ANY + 2, ANY + 3])
_IDS = st.sampled_from(IDS)
_SPLICES = st.builds(
    Splice,
    _NUMBERS | st.none(),
    st.sampled_from([0, 0, 1, 1, 2, -1, 40, -200, 2000]),
    SNIPPETS,
    st.sampled_from([(0, 0)] * 4 + [(0, 1), (0, 10_000), (1, 0), (99, 5), (2**31 - 9000, 0)]),
    st.booleans(),
)
_SETTINGS = st.sampled_from(
    [
        {"driveTrace": {"maxFindings": 1}},
        {"driveTrace": {"maxFindings": 3, "unheard": "of"}},
        {"maxFindings": 1000},
        {"driveTrace": {"maxFindings": 0, "ruleUrl": 5, "logToClient": "loud"}},
        {"driveTrace": {"maxFindings": True, "ruleUrl": "javascript:{code}"}},
        {"driveTrace": {"ruleUrl": "https://example.com/{code}"}},
        {"driveTrace": {"ruleUrl": ""}},
        {"driveTrace": {"logToClient": "debug"}},
        {"driveTrace": {"logToClient": "warning"}},
        {"driveTrace": []},
        [],
        None,
        "x",
        {},
    ]
)
_ONLY = st.sampled_from([(), (), *((each,) for each in KINDS), ("source",), ("refactor",)])
_PREVIOUS = st.sampled_from(["none", "own", "own", "another", "unknown"])
OPEN = st.builds(Open, _EVERY, TEXTS, st.sampled_from([1, 1, 0, 5, -3]))
CHANGE = st.builds(
    Change,
    URIS,
    st.lists(_SPLICES, max_size=3).map(tuple),
    st.sampled_from([1, 1, 1, 1, 2, 100, 0, -1]),
)
SETTLE = st.builds(Settle)
_HOVER = st.builds(Hover, URIS, _NUMBERS, _IDS)
_SHOW_RUN = st.builds(ShowRun, URIS, st.sampled_from(["alpha", "🚀", "nobody's"]), _IDS)
_PULL = st.builds(Pull, URIS, _PREVIOUS, _IDS)
_PULL_ALL = st.builds(PullAll, _PREVIOUS, st.sampled_from([None, str, int]), _IDS)
RIGHT = weighted(
    (6, CHANGE),
    (2, OPEN),
    (1, _HOVER),
    (1, st.builds(Lenses, URIS, _IDS, st.booleans())),
    (1, st.builds(ResolveOld, _IDS)),
    (2, st.builds(Aids, URIS, st.tuples(_NUMBERS, _NUMBERS), _IDS)),
    (1, st.builds(Actions, URIS, st.tuples(_NUMBERS, _NUMBERS), st.none() | _NUMBERS, _ONLY)),
    (4, asks(URIS)),
    (1, FIND_NAMES),
    (1, _SHOW_RUN),
    (2, _PULL),
    (2, _PULL_ALL),
    (1, st.builds(TakenBack, _PULL | _PULL_ALL | _SHOW_RUN | _HOVER, st.sampled_from(IDS[2:]))),
    (1, st.builds(Configure, _SETTINGS)),
    (2, st.builds(Folders, st.sampled_from([ANY, ANY, ANY + 1, ANY + 5, ANY + 6]), st.booleans())),
    (1, st.builds(Close, URIS)),
)
