"""What an editor asks for while one reads a long document."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tests.bench.editing import Session
from tests.bench.table import Row, Target, first_line
from tests.support.raw_client import ResponseError

_TIMES = 20
_FEW = 2
_SCREEN_LINES = 60
_IN_MILLISECONDS = Target(10)
_IN_A_SECOND = Target(1000)
_IN_SECONDS = Target(5000)


@dataclass(frozen=True)
class Request:
    """A request that is to be answered in milliseconds, unless its answer grows with the trace."""

    method: str
    params: Callable[[Session], dict[str, Any]]
    target: Target = _IN_MILLISECONDS
    times: int = _TIMES


@dataclass
class Answer:
    """How long the answers took, or why there was none."""

    samples_ms: list[float] = field(default_factory=list)
    failure: str = ""


def _at(name: str) -> Callable[[Session], dict[str, Any]]:
    """Inside an envelope field's value, which is ASCII, on the line that is edited."""
    mark = f'"{name}":"'

    def position(session: Session) -> dict[str, Any]:
        character = session.line.index(mark) + len(mark) + 1
        return {"position": {"line": session.place.line, "character": character}}

    return position


def _screen(session: Session) -> dict[str, Any]:
    """What a window shows from that line on."""
    first = session.place.line
    start, end = ({"line": line, "character": 0} for line in (first, first + _SCREEN_LINES))
    return {"range": {"start": start, "end": end}}


def _screen_in_context(session: Session) -> dict[str, Any]:
    return {**_screen(session), "context": {"diagnostics": []}}


def _at_the_end(session: Session) -> dict[str, Any]:
    """On the empty line that the next event goes on."""
    return {"position": {"line": session.text.count("\n"), "character": 0}}


def _places(name: str) -> Callable[[Session], dict[str, Any]]:
    place = _at(name)
    return lambda session: {"positions": [place(session)["position"]]}


def _whole(_: Session) -> dict[str, Any]:
    return {}


def _renamed(session: Session) -> dict[str, Any]:
    return {**_at("project_run_id")(session), "newName": "another-run"}


def _formatted(_: Session) -> dict[str, Any]:
    return {"options": {"tabSize": 2, "insertSpaces": True}}


_LENSES, _RESOLVE = "codeLens", "codeLens/resolve, each"
_ASKED = {
    "hover on an event's name": Request("textDocument/hover", _at("event_type")),
    "hover on a run's id": Request("textDocument/hover", _at("project_run_id")),
    "completion, a whole event": Request("textDocument/completion", _at_the_end),
    "completion, an event's name": Request("textDocument/completion", _at("event_type")),
    "hover on a timestamp": Request("textDocument/hover", _at("ts")),
    "hover on a dispatch's id": Request("textDocument/hover", _at("dispatch_id")),
    "inlayHint, a screen": Request("textDocument/inlayHint", _screen),
    "semanticTokens, all": Request("textDocument/semanticTokens/full", _whole, _IN_SECONDS, _FEW),
    "semanticTokens, a screen": Request("textDocument/semanticTokens/range", _screen),
    "codeAction, a screen": Request("textDocument/codeAction", _screen_in_context),
    _LENSES: Request("textDocument/codeLens", _whole),
    "definition of a run": Request("textDocument/definition", _at("project_run_id")),
    "highlights of a run": Request("textDocument/documentHighlight", _at("project_run_id")),
    "selectionRange": Request("textDocument/selectionRange", _places("event_type")),
    "documentSymbol": Request("textDocument/documentSymbol", _whole, _IN_A_SECOND, _FEW),
    "foldingRange": Request("textDocument/foldingRange", _whole, _IN_A_SECOND, _FEW),
    "documentLink": Request("textDocument/documentLink", _whole, _IN_A_SECOND, _FEW),
    "prepareRename of a run": Request("textDocument/prepareRename", _at("project_run_id")),
    "rename of a run": Request("textDocument/rename", _renamed, _IN_A_SECOND, _FEW),
    "formatting": Request("textDocument/formatting", _formatted, _IN_A_SECOND, _FEW),
}
_PICKED = {
    "record a grade, picked": ("refactor.driveTrace.record", _IN_MILLISECONDS, _TIMES),
    "fix-all, picked": ("source.fixAll.driveTrace", _IN_SECONDS, _FEW),
}
"""Actions by their kind, whose edit is made when they are picked."""
_MEANWHILE = {
    f"hover during {what}, the longest": what
    for what in (
        "documentSymbol",
        "foldingRange",
        "semanticTokens, all",
        "formatting",
        "rename of a run",
    )
}
"""Requests that take long, while which others are to be answered."""
_PROMPTLY = Target(50)


def ask_all(session: Session, answers: dict[str, Answer]) -> None:
    """Add to each request's answers; the lenses of the document are resolved one by one."""
    lenses: list[Any] = []
    for what, request in _ASKED.items():
        params = request.params(session)
        answer = answers.setdefault(what, Answer())
        for _ in range(request.times):
            result = _ask(session, answer, request.method, params)
            lenses = result if what == _LENSES and result else lenses
    answer = answers.setdefault(_RESOLVE, Answer())
    for lens in lenses[:_TIMES]:
        if "command" not in lens:
            _ask(session, answer, "codeLens/resolve", lens)
    for what, (kind, _, times) in _PICKED.items():
        context = {"diagnostics": [], "only": [kind]}
        params = {**_screen(session), "context": context}
        actions = _ask(session, Answer(), "textDocument/codeAction", params) or []
        answer = answers.setdefault(what, Answer())
        for action in actions[:1] * times:
            _ask(session, answer, "codeAction/resolve", action)

    for what, long in _MEANWHILE.items():
        _ask_meanwhile(session, answers.setdefault(what, Answer()), _ASKED[long])


def _ask_meanwhile(session: Session, answer: Answer, long: Request) -> None:
    """Hover until the answer to a long request is there. The last hover counts only where it is the
    only one, as this client takes long to read 25 MB.
    """
    hover, waits = _at("event_type")(session), list[float]()
    document = {"textDocument": {"uri": session.uri}, **long.params(session)}
    request_id = session.client.start_request(long.method, document)
    while True:
        elapsed, _ = session.ask("textDocument/hover", hover)
        waits.append(elapsed)
        with suppress(TimeoutError):
            session.client.response(request_id, timeout=0)
            break
    answer.samples_ms.append(max(waits[:-1] or waits))


def request_rows(answers: dict[str, Answer], lines: int) -> list[Row]:
    """A row a request; nothing to resolve gives none."""
    rows = []
    for what, answer in answers.items():
        name = f"{what}, {lines:,} lines"
        if answer.samples_ms or answer.failure:
            target = _ASKED[what].target if what in _ASKED else _target_of(what)
            rows.append(Row(name, answer.samples_ms, targets=(target,), failure=answer.failure))
    return rows


def _target_of(what: str) -> Target:
    if what in _MEANWHILE:
        return _PROMPTLY
    return _PICKED[what][1] if what in _PICKED else _IN_MILLISECONDS


def _ask(session: Session, answer: Answer, method: str, params: dict[str, Any]) -> Any:
    try:
        elapsed, result = session.ask(method, params)
    except ResponseError as error:
        answer.failure = first_line(error)
        return None
    answer.samples_ms.append(elapsed)
    return result
