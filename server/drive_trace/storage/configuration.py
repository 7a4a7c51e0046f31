"""What a ``drive-trace.toml`` may say, declared once. ``toml_models.py`` reads it; the JSON Schema
that editors complete by is made of it by ``tools/json_schemas.py``, in which the text below a field
is its description. A title says in messages what belongs there.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import force_setattr, replace

from drive_trace.linter.settings import DEFAULTS, RuleSettings, Severity
from drive_trace.storage.patterns import is_pattern, patterns_of

CONFIGURATION_NAME = "drive-trace.toml"
_NAME = r"[^./\\:\x00-\x1f\x7f][^/\\:\x00-\x1f\x7f]*"
INNER_PATH = rf"(?:{_NAME}/)*{_NAME}"
"""A path that leads into no folder above and into no hidden one, as ``.git`` is."""

SeverityWord: TypeAlias = Literal["off", "error", "warning", "information", "hint"]
_SEVERITIES = {severity.label: severity for severity in Severity}
SEVERITIES: Mapping[str, Severity | None] = {"off": None, **_SEVERITIES}
"""The severities that a rule can be set to, by their words; None turns it off."""
THRESHOLDS: Mapping[str, int] = {**_SEVERITIES, "never": 0}
"""The severities at which a check can fail, by their words."""
MOST_ITEMS = 1000
"""Every trace is matched with every override, and every wrong item is a problem."""


class Rules(dict[str, Any]):
    """How severe what rules find is, and the rules' options. A glob of rules and a group (`all`, or
    a severity) hold for those that nothing else names.
    """

    @cached_property
    def settings(self) -> RuleSettings:
        """What it says of each rule."""
        if not self:
            return DEFAULTS
        from drive_trace.storage.toml_models import settings_of  # noqa: PLC0415 - loads rules

        return settings_of(self)


class TraceGlob(str):
    """One as in .gitignore that can match a file below the folder of the configuration."""

    __slots__ = ()

    def __new__(cls, glob: str) -> TraceGlob:
        """Raises ValueError where it can match none."""
        is_out = "\\" in glob or ".." in glob.split("/")
        if is_out or glob.startswith("!") or not is_pattern(glob):
            raise ValueError(
                "a glob means files below the folder of the configuration, as in .gitignore, and "
                "cannot be negated: set other rules for the exception in a later override"
            )
        return super().__new__(cls, glob)


class RuleName(str):
    """A rule, a glob of rules, or a group of them."""

    __slots__ = ()

    def __new__(cls, name: str) -> RuleName:
        """Raises ValueError where it means no rule."""
        from drive_trace.storage.toml_models import codes_of  # noqa: PLC0415 - loads rules

        codes_of(name)
        return super().__new__(cls, name)


T = TypeVar("T")
_Several: TypeAlias = Annotated[tuple[T, ...], Meta(min_length=1, max_length=MOST_ITEMS)]
_Globs: TypeAlias = _Several[Annotated[TraceGlob, Meta(title="a glob")]]
_RuleTable: TypeAlias = Annotated[Rules, Meta(title="a table of rules")]
_Family: TypeAlias = _Several[Annotated[str, Meta(title="a word of models' ids", min_length=1)]]
_TRACE = "projects/shop/trace.jsonl, below this file's folder and in no hidden one"
_TITLE = "an array of tables, each below `[[%s]]`"


class Override(Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of some files, in place of those of all."""

    paths: _Globs
    """Globs as in .gitignore, but none negated, from this file's folder on."""
    rules: _RuleTable


class JudgeSettings(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """What has to be known of models before one may judge."""

    orchestrator_family: (
        Annotated[str, Meta(title="a family or a model's id", min_length=1)] | None
    ) = None
    """The family, or the model's id, of the orchestrator that runs the work: a judge of the same
    family is refused.
    """
    families: Annotated[dict[str, _Family], Meta(title="a table of families")] = {}
    """More families of models: each with words that its models' ids have."""

    def __post_init__(self) -> None:
        lower = {name.lower(): words for name, words in self.families.items()}
        force_setattr(self, "families", lower)


class RecordedRun(Struct, frozen=True, forbid_unknown_fields=True):
    """The run that sessions of agents record, see `drive-trace hook`, and its trace."""

    trace: Annotated[str, Meta(title=f"a path like {_TRACE}", pattern=rf"^{INNER_PATH}\.jsonl\Z")]
    """The trace; its file may be missing."""
    run: Annotated[str, Meta(title="the id of a run", min_length=1)]
    """The id of the run (`project_run_id`)."""


class Exemption(Struct, frozen=True, forbid_unknown_fields=True):
    """Runs that a gate does without for a while."""

    runs: _Several[Annotated[str, Meta(title="a glob of runs", min_length=1, max_length=1000)]]
    """Globs of their ids."""
    reason: Annotated[str, Meta(title="why, in a sentence", min_length=1)]
    until: date
    """The last day."""


class ScoreSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What `score` does without."""

    exempt: Annotated[
        tuple[Exemption, ...], Meta(title=_TITLE % "score.exempt", max_length=MOST_ITEMS)
    ] = ()
    """Runs that `score --require-correct` does without until a day, and why: both are shown. It
    counts from the commit of `--trust-config-at`, or with `--trust-config`.
    """


class Configuration(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """What a drive-trace.toml may say."""

    rules: _RuleTable = Rules()
    overrides: Annotated[
        tuple[Override, ...], Meta(title=_TITLE % "overrides", max_length=MOST_ITEMS)
    ] = ()
    """What holds for some files in place of what holds for all; of two that mean one file, the
    later one decides.
    """
    rule_url: Annotated[
        str,
        Meta(
            title="an address, such as https://…/rules/{code}.md",
            pattern=r"^https?://[^\s{}]*\{code\}[^\s{}]*\Z",
        ),
    ] = ""
    """Address of a rule's page, for JSON and SARIF that people on other machines read; `{code}`
    stands for the rule.
    """
    exclude: _Globs = ()
    """Traces that no search reads. Globs as in .gitignore, but none negated, from this file's
    folder on. A gate fails on them all the same, as whoever changes a trace may change this file.
    """
    fail_on: Literal["error", "warning", "information", "hint", "never"] | None = None
    """A check fails on a finding at least this bad, unless --fail-on says otherwise."""
    unfixable: Annotated[
        tuple[Annotated[RuleName, Meta(title="a rule, a glob of rules, or a group of them")], ...],
        Meta(title="an array of rules", max_length=MOST_ITEMS),
    ] = ()
    """Rules of which `check --fix` and fix-all make no fix: a person makes each by hand."""
    score: ScoreSettings = ScoreSettings()
    judge: JudgeSettings = JudgeSettings()
    record: RecordedRun | None = None

    def __post_init__(self) -> None:
        paths, runs = (each.paths for each in self.overrides), (e.runs for e in self.score.exempt)
        if max(sum(map(len, paths)), sum(map(len, runs))) > MOST_ITEMS:
            raise ValueError(f"all tables of one kind have more than {MOST_ITEMS:,} globs")

    def exemption(self, run_id: str) -> Exemption | None:
        """What exempts a run for the longest time, if anything does. It counts only where it is
        trusted.
        """
        exempt = self.score.exempt
        found = (each for each in exempt if any(fnmatchcase(run_id, g) for g in each.runs))
        return max(found, key=lambda each: each.until, default=None)

    def settings_for(self, path: str | None) -> RuleSettings:
        """The settings of a file, by its path from the configuration's folder, with ``/`` in
        between; None is a file that is not below that folder.
        """
        settings = self.rules.settings
        if self.unfixable:
            from drive_trace.storage.toml_models import codes_of  # noqa: PLC0415

            settings = replace(
                settings, unfixable=frozenset().union(*map(codes_of, self.unfixable))
            )
        for each in self.overrides:
            if path is not None and patterns_of(each.paths).hold(path):
                settings = settings.under(each.rules.settings)
        return settings
