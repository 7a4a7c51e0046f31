"""What a client that is right does: the steps of a session, which know nothing of its state.

A step is a function of the conversation and of what was drawn for it. Which of the documents it is
about, and where, are numbers that `places` takes modulo what is there, so that a session is still
one when steps are taken out of it. What is called `message_id` comes last.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.findings import KINDS, RECORD_KIND
from drive_trace.features.runs import code_lenses, resolve_lens
from tests.support.client_text import position
from tests.support.editor import is_about_rule
from tests.support.others import lens_alone
from tests.support.sessions.asking import ASKED, PLAIN, ask, check_fixes, find_names
from tests.support.sessions.conversation import FAILED, MODIFIED, OK, PARAMS, Check, Conversation
from tests.support.sessions.model import Buffer, folder_of
from tests.support.sessions.places import ANY, IDS, NOWHERE, place, uri_of, whole
from tests.support.sessions.texts import SNIPPETS, TEXTS

_ODD = re.compile("[^ -~]")
APPLY_ACTION, SHOW_RUN = "driveTrace.applyAction", "driveTrace.showRun"


@dataclass(frozen=True)
class Step:
    """Something that a client does."""

    do: Callable[..., None]
    given: tuple[Any, ...] = ()

    def play(self, conversation: Conversation) -> None:
        self.do(conversation, *self.given)

    def __repr__(self) -> str:
        return f"Step({self.do.__name__}, {self.given!r})"


def drawn(do: Callable[..., None], *given: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.builds(Step, st.just(do), st.tuples(*given))


# Documents


def open_(conversation: Conversation, uri: int, text: str, version: int) -> None:
    conversation.open(uri_of(conversation, uri), text, version)


def close(conversation: Conversation, uri: int) -> None:
    conversation.close(uri_of(conversation, uri))


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


def change(conversation: Conversation, uri: int, splices: tuple[Splice, ...], step: int) -> None:
    """Several changes in one notification, each of the text that the one before it made. The
    version is so much later than the present one: a negative step is stale.
    """
    name = uri_of(conversation, uri)
    buffer, encoding = conversation.buffer(name), conversation.world.client.encoding
    draft = Buffer(buffer.version, buffer.text) if buffer else Buffer(1, "some text\n")
    version, changes = draft.version, list[Any]()
    for splice in splices:
        changes.append(splice.event(draft.text, encoding))
        if buffer is not None:
            draft.change(version, changes[-1:], encoding)
    conversation.change(name, version + step, changes)


# Lenses, actions and commands


def lenses(conversation: Conversation, uri: int, resolves: bool, message_id: Any) -> None:
    """The lenses of a document, of which some are resolved later, when they may be stale."""
    name = uri_of(conversation, uri)
    buffer = conversation.buffer(name)
    analysis = Analysis(buffer.text if buffer else "")
    fresh = code_lenses(analysis, name) if buffer else []

    def check(result: Any) -> None:
        assert [_bare(each) for each in result] == [_bare(PLAIN.unstructure(x)) for x in fresh]
        conversation.lenses = result

    params = {"textDocument": {"uri": name}}
    conversation.ask("textDocument/codeLens", params, message_id=message_id, check=check)
    if resolves and conversation.phase == "ready":
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


def resolve_old_lenses(conversation: Conversation, message_id: Any) -> None:
    """Lenses that were given some time ago."""
    for lens in conversation.lenses[:2]:
        conversation.ask("codeLens/resolve", lens, message_id=message_id)


def actions(
    conversation: Conversation,
    uri: int,
    places: tuple[int, int],
    pick: int | None,
    only: tuple[str, ...],
) -> None:
    """Code actions of a range, or of the whole text; one is picked, and its edit carried out."""
    name = uri_of(conversation, uri)
    start, end = (place(conversation, name, each) for each in places)
    picks = pick is not None and conversation.phase == "ready"
    where = whole(conversation, name) if picks else {"start": start, "end": end}
    context = {"diagnostics": [], **({"only": list(only)} if only else {})}
    params = {"textDocument": {"uri": name}, "range": where, "context": context}
    if not picks or conversation.buffer(name) is None:
        conversation.ask("textDocument/codeAction", params, codes={OK, MODIFIED})
        return
    found = conversation.result("textDocument/codeAction", params)
    check_fixes(conversation, name, params, found)
    found = [each for each in found or () if not is_about_rule(each)]
    if found and pick is not None:
        _carry_out(conversation, name, found[pick % len(found)])


def _carry_out(conversation: Conversation, uri: str, action: Any) -> None:
    client, buffer = conversation.world.client, conversation.buffer(uri)
    assert buffer is not None
    if "edit" not in action:
        assert client.lazy_actions
        # A grade is offered after a short look at the lines that may be meant as one, and refused
        # after a look at all of them.
        refusals = (FAILED,) if action["data"].get("kind") == RECORD_KIND else ()
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


def show_run(conversation: Conversation, uri: int, run: str, message_id: Any) -> None:
    name = uri_of(conversation, uri)
    conversation.note(name)

    def check(result: Any) -> None:
        texts = {each.text for each in conversation.states_of(name) if each.version is not None}
        assert any(Analysis(text).index.names(run) for text in texts if text is not None)
        assert result.startswith("**") == conversation.world.client.markdown

    params = {"command": SHOW_RUN, "arguments": [{"uri": name, "runId": run}]}
    given = {"message_id": message_id, "codes": (OK, PARAMS), "check": check}
    conversation.ask("workspace/executeCommand", params, **given)


# Diagnostics


def pull(conversation: Conversation, uri: int, which: str, message_id: Any) -> None:
    """`textDocument/diagnostic`, with the name of an earlier report, of another's, or of none."""
    name = uri_of(conversation, uri)
    conversation.states_of(name)
    previous = _previous(conversation, name, which)

    def check(report: Any) -> None:
        _check_report(conversation, name, report, previous)

    given = {} if previous is None else {"previousResultId": previous}
    params = {"textDocument": {"uri": name}, **given}
    conversation.ask("textDocument/diagnostic", params, message_id=message_id, check=check)


def pull_all(
    conversation: Conversation, which: str, kind_of_token: type | None, message_id: Any
) -> None:
    """`workspace/diagnostic`, in parts or not."""
    token = conversation.new_token(kind_of_token)
    known = {uri: _previous(conversation, uri, which) for uri in conversation.named}
    for number in range(len(conversation.world.disk) + len(NOWHERE)):
        conversation.states_of(uri_of(conversation, ANY + number))

    def check(result: Any) -> None:
        parts = conversation.progress(token)
        assert token is None or result["items"] == []
        items = [item for part in [*parts, result] for item in part["items"]]
        uris = [item["uri"] for item in items]
        assert len(uris) == len(set(uris)), uris
        for item in items:
            uri, version = item.pop("uri"), item.pop("version")
            assert version in {state.version for state in conversation.states_of(uri)}
            _check_report(conversation, uri, item, known.get(uri))
        for uri, states in conversation.states.items():
            if all(state.text is not None for state in states):
                assert uri in uris

    ids = [{"uri": uri, "value": value} for uri, value in known.items() if value is not None]
    parts = {} if token is None else {"partialResultToken": token}
    params = {"previousResultIds": ids, **parts}
    conversation.ask("workspace/diagnostic", params, message_id=message_id, check=check)


def _previous(conversation: Conversation, uri: str, which: str) -> str | None:
    if which == "none":
        return None
    if which == "unknown":
        return "nobody's"
    names = list(conversation.named.values())
    return conversation.named.get(uri) if which == "own" else names[-1] if names else None


def _check_report(conversation: Conversation, uri: str, report: Any, previous: str | None) -> None:
    """A report is about the document as it was meanwhile, and its name stands for its content."""
    name = report["resultId"]
    if report["kind"] == "full":
        items = report["items"]
        assert conversation.results.setdefault(name, items) == items
        assert name != previous
    else:
        assert report == {"kind": "unchanged", "resultId": previous}
        items = conversation.results[name]
    assert any(state.given == items for state in conversation.states_of(uri)), (uri, items)
    conversation.named[uri] = name


# The rest


def configure(conversation: Conversation, settings: Any) -> None:
    conversation.notify("workspace/didChangeConfiguration", {"settings": settings})
    if conversation.phase == "ready":
        world = conversation.world
        world.settings = world.settings.updated(settings)
        conversation.note()


def move_folder(conversation: Conversation, uri: int, comes: bool) -> None:
    """The folder of a document comes into the workspace, or leaves it."""
    folder = folder_of(uri_of(conversation, uri))
    changed, other = [{"uri": folder, "name": "x"}], [{"uri": "untitled:x", "name": "x"}]
    added, removed = (changed, []) if comes else (other, changed)
    event = {"added": added, "removed": removed}
    conversation.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    if conversation.phase == "ready":
        world = conversation.world
        world.folders = world.folders | {folder} if comes else world.folders - {folder}
        conversation.note()


def take_back(conversation: Conversation, step: Step, message_id: Any) -> None:
    """A request that is cancelled at once."""
    step.do(conversation, *step.given[:-1], message_id)
    conversation.cancel(message_id)


def settle(conversation: Conversation) -> None:
    """A pause: the server does what there is to do, and is looked at."""
    conversation.settle()


def weighted(*given: tuple[int, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """One of several, as often as it says; `one_of` takes each once, whatever it is given."""
    every = [strategy for weight, strategy in given for _ in range(weight)]
    return st.sampled_from(every).flatmap(lambda strategy: strategy)


_NUMBERS = st.integers(0, 3000)
_EVERY = st.sampled_from([ANY + each for each in (2, 0, 3, 1, 4, 5, 6, 7)])
URIS = st.sampled_from([*[0] * 8, 1, 1, 1, 2, ANY, ANY + 2, ANY + 3])
_IDS = st.sampled_from(IDS)
_PLACES = st.tuples(_NUMBERS, _NUMBERS)
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
        *({"driveTrace": []}, [], None, "x", {}),
    ]
)
_ONLY = st.sampled_from([(), (), *((each,) for each in KINDS), ("source",), ("refactor",)])
_PREVIOUS = st.sampled_from(["none", "own", "own", "another", "unknown"])
_STEP = st.sampled_from([1, 1, 1, 1, 2, 100, 0, -1])
OPEN = drawn(open_, _EVERY, TEXTS, st.sampled_from([1, 1, 0, 5, -3]))
CHANGE = drawn(change, URIS, st.lists(_SPLICES, max_size=3).map(tuple), _STEP)
SETTLE = st.just(Step(settle))
_HOVER = drawn(ask, st.just("textDocument/hover"), URIS, _PLACES, _IDS)
_SHOW_RUN = drawn(show_run, URIS, st.sampled_from(["alpha", "🚀", "nobody's"]), _IDS)
_PULL = drawn(pull, URIS, _PREVIOUS, _IDS)
_PULL_ALL = drawn(pull_all, _PREVIOUS, st.sampled_from([None, str, int]), _IDS)
RIGHT = weighted(
    (6, CHANGE),
    (2, OPEN),
    (7, drawn(ask, st.sampled_from(ASKED), URIS, _PLACES, _IDS)),
    (1, drawn(lenses, URIS, st.booleans(), _IDS)),
    (1, drawn(resolve_old_lenses, _IDS)),
    (1, drawn(actions, URIS, _PLACES, st.none() | _NUMBERS, _ONLY)),
    (1, drawn(find_names, st.sampled_from(["", "a", "🚀", "slice", "nobody's"]))),
    (1, _SHOW_RUN),
    (2, _PULL),
    (2, _PULL_ALL),
    (1, drawn(take_back, _PULL | _PULL_ALL | _SHOW_RUN | _HOVER, st.sampled_from(IDS[2:]))),
    (1, drawn(configure, _SETTINGS)),
    (2, drawn(move_folder, st.sampled_from([ANY, ANY, ANY + 1, ANY + 5, ANY + 6]), st.booleans())),
    (1, drawn(close, URIS)),
)
