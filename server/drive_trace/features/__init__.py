"""The features of editors: a file for each method of the protocol, or for a few related ones.

Here are their settings, declared once: for reading them from clients, for the extension's
settings and for docs/settings.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple


def setting(default: Any, prose: str, **schema: object) -> Any:
    """A field that a user can set. ``prose`` is Markdown; ``schema`` is JSON Schema beside the
    type, which the default shows.
    """
    return field(default=default, metadata={"prose": prose, "schema": schema})


@dataclass(frozen=True, slots=True)
class LensOptions:
    """Which code lenses are shown."""

    runs: bool = setting(True, "A lens over each run's first line, with the run's verdict.")
    grades: bool = setting(
        True, "A lens over each `correctness-recorded` event: what it decides, or what replaced it."
    )


@dataclass(frozen=True, slots=True)
class HintOptions:
    """Which inlay hints are shown."""

    durations: bool = setting(True, "Hours and minutes behind milliseconds: `1680000` `28m`.")
    tokens: bool = setting(True, "Short numbers behind token counts: `1912408` `1.9M`.")
    sizes: bool = setting(
        True, "Kilobytes and megabytes behind long byte counts: `1204551` `1.2 MB`."
    )
    clock: bool = setting(
        True, "What the clock says behind a claimed duration that is far from it: `clock says 28m`."
    )
    names: bool = setting(True, "The dispatch's name behind its id, `round 2` behind a round's.")


@dataclass(frozen=True, slots=True)
class LinkOptions:
    """Where references in a trace lead."""

    ticket_url: str = setting(
        "",
        "Where ticket references lead, such as a slice's `linear_ref`: a web address in which "
        "`{ref}` stands for the reference. Empty: only those that are web addresses themselves "
        "are links.",
        placeholder="ref",
    )
    pull_request_url: str = setting(
        "",
        "Where references to pull requests lead: a web address in which `{ref}` stands for "
        "the reference, without a `#` or `!` before it. Empty: only those that are web addresses "
        "themselves are links.",
        placeholder="ref",
    )


@dataclass(frozen=True, slots=True)
class HoverSettings:
    """What hovers show."""

    messages: bool = setting(
        True,
        "A hover begins with the messages of findings on the token. Not wanted in VS Code, which "
        "shows them beside it.",
        in_vscode=False,
    )


OPEN_FILES, WORKSPACE = "openFiles", "workspace"


@dataclass(frozen=True, slots=True)
class DiagnosticSettings:
    """Which traces diagnostics are shown of."""

    scope: str = setting(
        OPEN_FILES,
        "Which traces findings are shown of: of those in open editors, or of every trace of the "
        "workspace. The list of runs counts the findings of closed traces for `workspace` alone, "
        "or when you refresh it; else it shows the counts that are known from before.",
        enum=[OPEN_FILES, WORKSPACE],
    )

    @property
    def covers_closed(self) -> bool:
        """Whether they are shown of traces that nobody has opened, too."""
        return self.scope == WORKSPACE


class Setting(NamedTuple):
    """One value that a user can set."""

    path: tuple[str, ...]
    """Its place below ``driveTrace``, in the protocol's camel case."""
    names: tuple[str, ...]
    """The attributes that lead to it."""
    default: Any
    prose: str
    schema: dict[str, Any]


def settings_of(
    cls: type, path: tuple[str, ...] = (), names: tuple[str, ...] = ()
) -> Iterator[Setting]:
    """Everything that is declared by :func:`setting` in a dataclass and the groups within it."""
    for each in fields(cls):
        here, attributes = (*path, camel(each.name)), (*names, each.name)
        default = _default(each)
        if is_dataclass(type(default)) and "prose" not in each.metadata:
            yield from settings_of(type(default), here, attributes)
        elif "prose" in each.metadata:
            prose, schema = each.metadata["prose"], each.metadata["schema"]
            yield Setting(here, attributes, default, prose, schema)


def _default(each: Field[Any]) -> Any:
    if each.default is not MISSING:
        return each.default
    return each.default_factory() if each.default_factory is not MISSING else None


def camel(name: str) -> str:
    """A name of Python's, ``run_id``, as the protocol writes it: ``runId``."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
