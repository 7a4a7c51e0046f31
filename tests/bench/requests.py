"""What an editor asks for while one reads a long document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.bench.table import Row, Target, first_line
from tests.support.raw_client import ResponseError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bench.editing import Session

_TIMES = 20
_SCREEN_LINES = 60
_IN_MILLISECONDS = Target(10)


@dataclass(frozen=True)
class Request:
    """A request that is to be answered in milliseconds."""

    method: str
    params: Callable[[Session], dict[str, Any]]


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


def _whole(_: Session) -> dict[str, Any]:
    return {}


_LENSES, _RESOLVE = "codeLens", "codeLens/resolve, each"
_ASKED = {
    "hover on an event's name": Request("textDocument/hover", _at("event_type")),
    "hover on a run's id": Request("textDocument/hover", _at("project_run_id")),
    "completion, a whole event": Request("textDocument/completion", _at_the_end),
    "completion, an event's name": Request("textDocument/completion", _at("event_type")),
    "codeAction, a screen": Request("textDocument/codeAction", _screen_in_context),
    _LENSES: Request("textDocument/codeLens", _whole),
}


def ask_all(session: Session, answers: dict[str, Answer]) -> None:
    """Add to each request's answers; the lenses of the document are resolved one by one."""
    lenses: list[Any] = []
    for what, request in _ASKED.items():
        params = request.params(session)
        answer = answers.setdefault(what, Answer())
        for _ in range(_TIMES):
            result = _ask(session, answer, request.method, params)
            lenses = result if what == _LENSES and result else lenses
    answer = answers.setdefault(_RESOLVE, Answer())
    for lens in lenses[:_TIMES]:
        if "command" not in lens:
            _ask(session, answer, "codeLens/resolve", lens)


def request_rows(answers: dict[str, Answer], lines: int) -> list[Row]:
    """A row a request; nothing to resolve gives none."""
    rows = []
    for what, answer in answers.items():
        name = f"{what}, {lines:,} lines"
        if answer.samples_ms or answer.failure:
            rows.append(
                Row(name, answer.samples_ms, targets=(_IN_MILLISECONDS,), failure=answer.failure)
            )
    return rows


def _ask(session: Session, answer: Answer, method: str, params: dict[str, Any]) -> Any:
    try:
        elapsed, result = session.ask(method, params)
    except ResponseError as error:
        answer.failure = first_line(error)
        return None
    answer.samples_ms.append(elapsed)
    return result
