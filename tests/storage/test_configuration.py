"""What a drive-trace.toml may say, and what is said of one that says something else."""

from collections.abc import Callable
from typing import Any

import pytest
import tomlkit
from hypothesis import assume, example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from drive_trace.linter.rules import GROUPS, RULES, SETTABLE
from drive_trace.linter.settings import RuleSettings, Severity
from drive_trace.storage import toml_models
from drive_trace.storage.configuration import SEVERITIES, Configuration, JudgeSettings
from drive_trace.storage.projects import spot_of
from drive_trace.storage.toml_models import read_client_rules, read_table
from tests.storage.support import assert_within_lines
from tests.support.growth import Work, assert_linear
from tests.support.mutating import changed, is_toml, slots
from tests.support.schemas import SCHEMAS, schema, strict_validator

OFF = RuleSettings({"unknown-value": None})


def settings_of(text: str, path: str | None = None) -> RuleSettings:
    found = read_table(text, Configuration)
    assert isinstance(found, Configuration), found
    return found.settings_for(path)


def problems(text: str) -> list[tuple[str, str]]:
    """What the problems stand on, and what they say."""
    found = read_table(text, Configuration)
    assert isinstance(found, tuple)
    return [(text[slice(*span)], message) for span, message in found]


# What it may say


OVERRIDDEN = """
[rules]
unknown-value = "off"
wall-clock-exceeds-timestamps = { severity = "error", tolerance-ms = 1, tolerance-percent = 1 }

[[overrides]]
paths = ["legacy/**", "old.jsonl"]
rules.unknown-value = "hint"
rules.wall-clock-exceeds-timestamps = { tolerance-ms = 2 }

[[overrides]]
paths = ["legacy/new"]
rules.unknown-value = "error"
"""


@pytest.mark.parametrize(
    ("path", "severity", "tolerance"),
    [
        (None, None, 1),
        ("trace.jsonl", None, 1),
        ("legacy/trace.jsonl", Severity.HINT, 2),
        ("a/old.jsonl", Severity.HINT, 2),
        ("legacy/new/trace.jsonl", Severity.ERROR, 2),
    ],
)
def test_the_last_override_that_means_a_file_decides(
    path: str | None, severity: Severity | None, tolerance: int
) -> None:
    settings = settings_of(OVERRIDDEN, path)
    assert settings.severity(RULES["unknown-value"]) is severity
    wall_clock = RULES["wall-clock-exceeds-timestamps"]
    assert settings.severity(wall_clock) is Severity.ERROR
    assert settings.values(wall_clock) == {"tolerance_ms": tolerance, "tolerance_percent": 1}


def test_windows_line_ends_and_a_byte_order_mark() -> None:
    assert settings_of('\ufeff[rules]\r\nunknown-value = "off"\r\n') == OFF


def test_the_families_of_models() -> None:
    text = '[judge]\norchestrator-family = "own"\nfamilies.Own = ["m1", "m2"]'
    found = read_table(text, Configuration)
    assert isinstance(found, Configuration)
    assert found.judge == JudgeSettings(orchestrator_family="own", families={"own": ("m1", "m2")})


def test_the_one_in_the_guide() -> None:
    guide = (SCHEMAS.parent / "docs/guide.md").read_text("utf-8")
    settings = settings_of(guide.partition("```toml\n")[2].partition("```")[0], "legacy/a.jsonl")
    assert settings.severities["malformed-uuid"] is None
    assert settings.severities["stale-verdict"] is Severity.ERROR


# What it may not say


@pytest.mark.parametrize(
    ("text", "token", "said"),
    [
        (
            "[rules]\nunknow-value = 'off'",
            "unknow-value",
            "no rule — did you mean `unknown-value`?",
        ),
        ("[rules]\nzzz = 'off'", "zzz", "`zzz` is no rule"),
        ("[rules]\n'a\\tb\u202e' = 1", "'a\\tb\u202e'", "`a\\tb<U+202E>` is no rule"),
        ("[rule]\nunknown-value = 'off'", "rule", "did you mean `rules`?"),
        (
            "x = 1",
            "x",
            "`x` is no key here: expected "
            "`rules`, `overrides`, `rule-url`, `exclude`, `fail-on`, `unfixable`, `score`, "
            "`judge` or `record`",
        ),
        ("rules = 5", "5", "`rules` must be a table of rules; found 5"),
        (
            "[rules]\nunknown-value = 'warn'",
            "'warn'",
            '`unknown-value` must be "off", "error", "warning", "information" or "hint"; '
            'found "warn" — did you mean "warning"?',
        ),
        ("[rules]\nunknown-value = false", "false", 'found false — did you mean "off"?'),
        (
            "[rules]\nunknown-value = 3",
            "3",
            '`unknown-value` must be "off", "error", "warning", '
            '"information" or "hint" or a table; found 3',
        ),
        (
            "[rules]\nunknown-value = {severity = 3}",
            "3",
            '`severity` must be "off", "error", "warning", "information" or "hint"; found 3',
        ),
        ("[rules]\nunknown-value = {severity = 'Off'}", "'Off'", 'did you mean "off"?'),
        ("[rules.unknown-value]\nseverty = 'off'", "severty", "did you mean `severity`?"),
        ("rules.unknown-value.tolerance-ms = 1", "tolerance-ms", "expected `severity`"),
        (
            "[rules.wall-clock-exceeds-timestamps]\ntolerance-ms = '5'",
            "'5'",
            '`tolerance-ms` must be an integer of at least 0; found "5"',
        ),
        ("[rules.wall-clock-exceeds-timestamps]\ntolerance-ms = -1", "-1", "found -1"),
        ("[rules.wall-clock-exceeds-timestamps]\ntolerance-ms = 1.5", "1.5", "found 1.5"),
        ("[rules.wall-clock-exceeds-timestamps]\ntolerance = 5", "tolerance", "did you mean `tol"),
        ("[overrides]", "overrides", "each below `[[overrides]]`; found an empty table"),
        ("overrides = [5]", "5", "an item must be a table; found 5"),
        ("[[overrides]]\npaths = ['a']", "overrides", "`rules` is missing here"),
        ("[[overrides]]\npaths = 'a'\nrules = {}", "'a'", "an array of at least one glob; found"),
        ("[[overrides]]\npaths = []\nrules = {}", "[]", "at least one glob; found an empty array"),
        ("[[overrides]]\npaths = [1]\nrules = {}", "1", "an item must be a glob; found 1"),
        ("[[overrides]]\npaths = ['!a']\nrules = {}", "'!a'", "cannot be negated"),
        ("[[overrides]]\npath = ['a']\nrules = {}", "path", "did you mean `paths`?"),
        ("[judge]\norchestrator = 'x'", "orchestrator", "no key here"),
        ("[judge]\norchestrator-family = 1", "1", "must be a family or a model's id; found 1"),
        ("judge.families = 5", "5", "`families` must be a table of families; found 5"),
        ("judge.families.own = 'x'", "'x'", "`own` must be an array of at least one word"),
        ("judge.families.own = [5]", "5", "an item must be a word of models' ids; found 5"),
        ("record.run = 'shop'", "record", "`trace` is missing"),
        ("record = {trace = '../a.jsonl', run = 'a'}", "'../a.jsonl'", "must be a path like proj"),
        ("record = {trace = 'a.jsonl', run = ''}", "''", "must be the id of a run"),
        ("judge = 5", "5", "`judge` must be a table; found 5"),
    ],
)
def test_a_problem_stands_on_its_token(text: str, token: str, said: str) -> None:
    found = problems(text)
    assert [message for place, message in found if place == token and said in message], found
    for message in (message for _, message in found):
        assert message.isprintable()


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("a = ", (0, 4), "is not TOML: "),
        ("a = 1\r\nb = \r\n", (1, 4), "is not TOML: "),
        ("a = [\n", (1, 0), "is not TOML: "),
        ("a = 1\na = 2", (1, 5), "is not TOML: "),
        ("a = " + "[" * 100_000, (0, 36), "nested too deeply"),
        ("\na = " + "[" * 326 + "]" * 326, (1, 36), "nested too deeply"),
        ("[rules]\na" + ".a" * 20_000 + " = 1", (1, 65), "nested too deeply"),
        ("[" + "a." * 40 + "a]", (0, 64), "nested too deeply"),
        ("a = " + "9" * 5000, (0, 4), "a number or key of more than 1000 characters"),
        ("\n a = 0x" + "f" * 5000, (1, 5), "a number or key of more than 1000 characters"),
        ("[[overrides]]\n" * 1001, (0, 2), "`overrides` has more than 1000 items"),
        ("[rules]\n" + "'a*' = 1\n" * 10_001, (10_001, 5), "it has more than 10,000 keys"),
        (f"[[overrides]]\npaths = {['*'] * 501}\nrules = {{}}\n" * 2, (0, 0), "more than 1,000"),
    ],
)
def test_what_is_no_toml(text: str, place: tuple[int, int], said: str) -> None:
    found = read_table(text, Configuration)
    assert isinstance(found, tuple)
    ((span, message),) = found
    assert said in message
    spot = spot_of(text.replace("\r\n", "\n"), span)
    assert (spot.record, spot.span.start) == place


def test_strings_and_comments_may_say_anything() -> None:
    inside = "[" * 50 + "{" * 50 + "." * 50 + "9" * 2000
    text = f'# {inside}\n[rules]\n\'{inside}\' = """\n{inside}"""\n'
    assert [said for _, said in problems(text)] == [f"`{inside[:59]}…` is no rule"]


@pytest.mark.parametrize(
    "text",
    [
        lambda size: f"exclude = ['{'[' * size}]']\n",
        lambda size: (
            f"[[score.exempt]]\nruns = ['*{'a' * (size // 2)}b*']\nreason = 'x'\nuntil = 2030-01-01"
        ),
    ],
    ids=["brackets", "runs"],
)
def test_no_text_takes_longer_than_its_length_allows(text: Callable[[int], str]) -> None:
    def reads(size: int) -> Work:
        def read() -> None:
            found = read_table(text(size), Configuration)
            if isinstance(found, Configuration):
                found.exemption("a" * size)

        return read

    assert_linear(reads, 100_000)


def test_of_many_problems_the_first_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    guessed: list[str] = []  # each takes about as long as a small check
    guess = toml_models.nearest
    monkeypatch.setattr(
        toml_models, "nearest", lambda word, *words: guessed.append(word) or guess(word, *words)
    )
    text = "".join(f"a{number} = 1\n" for number in range(2000))
    assert [place for place, _ in problems(text)] == [f"a{number}" for number in range(100)]
    assert len(guessed) <= 1000


def test_all_problems_are_told_in_their_order() -> None:
    text = "[rules]\nb = 'off'\na = 'off'\n[[overrides]]\nc = 1\n"
    assert [place for place, _ in problems(text)] == ["b", "a", "overrides", "overrides", "c"]


@given(st.text() | st.text("[]{}=.\"'#\n\r ab1rules-", max_size=30))
@example("a = 1\r\nrecord = [\r\n 1,\r\n]\r\n")
@example('rules = """\n"""')
@example("record = [")
def test_nothing_raises_whatever_the_text(text: str) -> None:
    found = read_table(text, Configuration)
    if isinstance(found, tuple):
        assert_within_lines(text, found)


# The schema


CODES = st.sampled_from(["unknown-value", "missing-field", "undeclared-field"])
WALL_CLOCK = "wall-clock-exceeds-timestamps"
RULE_TABLES = st.dictionaries(CODES, st.sampled_from(list(SEVERITIES)), max_size=2).map(
    lambda rules: {**rules, WALL_CLOCK: {"severity": "hint", "tolerance-ms": 5}}
)
GOOD_GLOBS, BAD_GLOBS = ["legacy/**", "a.jsonl", "*"], ["", "/", "!a", "a\\b", "../a", "a/../b"]


def configurations(globs: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    paths = st.lists(st.sampled_from(globs), min_size=1, max_size=2)
    overrides = st.fixed_dictionaries({"paths": paths, "rules": RULE_TABLES})
    return st.fixed_dictionaries(
        {
            "rules": RULE_TABLES,
            "judge": st.just({"orchestrator-family": "own", "families": {"own": ["m1", "m2"]}}),
            "record": st.just({"trace": "projects/shop/trace.jsonl", "run": "shop"}),
            "rule-url": st.just("https://example.com/{code}.md"),
            "overrides": st.lists(overrides, max_size=2),
        }
    )


BY_SCHEMA = strict_validator(schema("configuration"))


@given(changed(configurations(GOOD_GLOBS * 3 + BAD_GLOBS)))
def test_any_configuration_is_what_the_schema_says(data: Any) -> None:
    assume(isinstance(data, dict) and is_toml(data))
    fits = BY_SCHEMA.is_valid(data)
    globs = [glob for each in data.get("overrides", ()) for glob in each["paths"]] if fits else []
    assume(all(each in GOOD_GLOBS + BAD_GLOBS for each in globs))
    text = tomlkit.dumps(data)
    found = read_table(text, Configuration)
    assert isinstance(found, Configuration) == (fits and not any(map(BAD_GLOBS.count, globs)))
    if isinstance(found, Configuration):
        for code, entry in data.get("rules", {}).items():
            severity = entry.get("severity") if isinstance(entry, dict) else entry
            if severity is not None:
                assert found.settings_for(None).severities[code] == SEVERITIES[severity]
        return
    assert_within_lines(text, found)
    for _, message in found:
        assert message
        assert message.isprintable()


@given(changed(configurations(GOOD_GLOBS), most=0), st.integers(0, 99), st.booleans())
def test_one_mistake_is_told_where_it_stands(data: Any, place: int, of_key: bool) -> None:
    places = list(slots(data))
    inside, key = places[place % len(places)]
    if of_key and isinstance(inside, dict):
        inside["SPOILT"] = inside.pop(key)
    else:
        inside[key] = "SPOILT"
    text = tomlkit.dumps(data)
    found = read_table(text, Configuration)
    if isinstance(found, Configuration):
        assert BY_SCHEMA.is_valid(data)
        return
    told = [(place, said) for place, said in problems(text) if "is missing" not in said]
    assert [place.strip('"') for place, _ in told] == ["SPOILT"]


def test_the_schema_describes_every_rule_and_option() -> None:
    found = schema("configuration")
    Draft202012Validator.check_schema(found)
    rules = found["$defs"]["rules"]["properties"]
    assert list(rules) == [*SETTABLE, *GROUPS]
    for code, rule in SETTABLE.items():
        assert rules[code]["description"] == rule.summary
        options = rules[code]["anyOf"][1]["properties"]
        assert list(options) == ["severity", *(option.name for option in rule.options)]
        assert all(options[option.name]["description"] for option in rule.options)
    severities = found["$defs"]["severity"]["oneOf"]
    assert [each["const"] for each in severities] == list(SEVERITIES)


# A client's settings


def test_what_does_not_fit_is_left_out_and_told() -> None:
    given = {"unknown-value": "off", "zzz": "off", "missing-field": "none"}
    settings, said = read_client_rules(given)
    assert settings == OFF
    assert said[0] == "`zzz` is no rule"
    assert 'did you mean "off"?' in said[1]
    assert read_client_rules([])[1] == ("`rules` must be an object of rules",)


def test_a_clients_settings_lie_over_the_configuration() -> None:
    below = settings_of(OVERRIDDEN)
    above, _ = read_client_rules(
        {"unknown-value": "hint", "wall-clock-exceeds-timestamps": {"tolerance-percent": 9}}
    )
    settings = below.under(above)
    assert settings.severity(RULES["unknown-value"]) is Severity.HINT
    rule = RULES["wall-clock-exceeds-timestamps"]
    assert settings.severity(rule) is Severity.ERROR
    assert settings.values(rule) == {"tolerance_ms": 1, "tolerance_percent": 9}
