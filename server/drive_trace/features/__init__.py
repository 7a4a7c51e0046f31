"""The features of editors: a file for each method of the protocol, or for a few related ones.

Here are their settings, declared once: for reading them from clients, for the extension's
settings and for docs/settings.md, in which the text below a field is its description. A title says
in messages what belongs there.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct


class LensOptions(Struct, frozen=True, rename="camel"):
    """Which code lenses are shown."""

    runs: bool = True
    """A lens over each run's first line, with the run's verdict."""
    grades: bool = True
    """A lens over each `correctness-recorded` event: what it decides, or what replaced it."""


class HintOptions(Struct, frozen=True, rename="camel"):
    """Which inlay hints are shown."""

    durations: bool = True
    """Hours and minutes behind milliseconds: `1680000` `28m`."""
    tokens: bool = True
    """Short numbers behind token counts: `1912408` `1.9M`."""
    sizes: bool = True
    """Kilobytes and megabytes behind long byte counts: `1204551` `1.2 MB`."""
    clock: bool = True
    """What the clock says behind a claimed duration that is far from it: `clock says 28m`."""
    names: bool = True
    """The dispatch's name behind its id, `round 2` behind a round's."""


_TITLE = "a web address with `{%s}`"
_ADDRESS = r"^$|^https?://.*\{%s\}"
_Template = Annotated[str, Meta(title=_TITLE % "ref", pattern=_ADDRESS % "ref")]
RulePage = Annotated[str, Meta(title=_TITLE % "code", pattern=_ADDRESS % "code")]
"""The address of a rule's page."""


class LinkOptions(Struct, frozen=True, rename="camel"):
    """Where references in a trace lead."""

    ticket_url: _Template = ""
    """Where ticket references lead, such as a slice's `linear_ref`: a web address in which `{ref}`
    stands for the reference. Empty: only those that are web addresses themselves are links.
    """
    pull_request_url: _Template = ""
    """Where references to pull requests lead: a web address in which `{ref}` stands for the
    reference, without a `#` or `!` before it. Empty: only those that are web addresses themselves
    are links.
    """


class HoverSettings(Struct, frozen=True, rename="camel"):
    """What hovers show."""

    messages: Annotated[bool, Meta(extra={"in_vscode": False})] = True
    """A hover begins with the messages of findings on the token. Not wanted in VS Code, which shows
    them beside it.
    """


class DiagnosticSettings(Struct, frozen=True, rename="camel"):
    """Which traces diagnostics are shown of."""

    scope: Literal["openFiles", "workspace"] = "openFiles"
    """Which traces findings are shown of: of those in open editors, or of every trace of the
    workspace. The list of runs counts the findings of closed traces for `workspace` alone, or when
    you refresh it; else it shows the counts that are known from before.
    """

    @property
    def covers_closed(self) -> bool:
        """Whether they are shown of traces that nobody has opened, too."""
        return self.scope == "workspace"
