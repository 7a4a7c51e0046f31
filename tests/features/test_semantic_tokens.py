"""Semantic tokens: what each key and value is, for colours."""

import pytest
from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.semantic_tokens import LEGEND, TokenLook, tokens, tokens_in
from drive_trace.text.spans import PositionEncoding
from tests.support.aids import check_tokens, check_tokens_of, numbers_of, shown_tokens
from tests.support.fixtures import read

UTF16 = TokenLook(PositionEncoding.UTF16)


def test_every_key_and_value_of_an_event_is_told_apart() -> None:
    assert check_tokens('EVENT{"event_type":"dispatch-start"}') == [
        '"event_id" property.envelope',
        '"0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90" variable.envelope',
        '"schema_version" property.envelope',
        '"1" string.envelope',
        '"ts" property.envelope',
        '"2026-05-28T14:00:00.000Z" number.envelope',
        '"project_run_id" property.envelope',
        '"checkout-retry" variable.envelope',
        '"orchestrator_agent_id" property.envelope',
        "null keyword.envelope",
        '"event_type" property',
        '"dispatch-start" function',
        '"dispatch_id" property',
        '"77ce3f13-a067-4f13-a4e0-93dbae3137ae" variable.declaration.readonly',
        '"dispatch_name" property',
        '"implementer D1 R1" string',
        '"subagent_type" property',
        '"generalPurpose" string',
        '"model" property',
        '"composer-2" string',
        '"parent_dispatch_id" property',
        "null keyword",
    ]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ('EVENT{"event_type":"round-end"}', '"round-end" function'),
        ('EVENT{"event_type":"spec-authored"}', '"spec-authored" class'),
        ('EVENT{"event_type":"project-closed"}', '"project-closed" namespace'),
        ('EVENT{"event_type":"tokens-recorded"}', '"tokens-recorded" macro'),
        ('EVENT{"event_type":"tool-called"}', '"tool-called" string'),
        ('EVENT{"event_type":"round-end"}', '"satisfied" enumMember'),
        ('EVENT{"event_type":"round-end"}', "1260000 number"),
        ('EVENT{"event_type":"retro-landed"}', '"canonical-skill" enumMember'),
        ('EVENT{"event_type":"retro-landed"}', "true keyword"),
        ('EVENT{"event_type":"plan-authored"}', '"XL" property'),
        ('EVENT{"event_type":"spec-amended"}', '"Edge cases" string'),
        (
            'EVENT{"event_type":"round-start","round_id":"r-1"}',
            '"r-1" variable.declaration.readonly',
        ),
        ('EVENT{"event_type":"round-end","round_id":"r-1"}', '"r-1" variable.readonly'),
        ('EVENT{"event_type":"round-end","round":{"id":"r-1"}}', '"round" property.deprecated'),
        ('EVENT{"event_type":"round-end","round":{"id":"r-1"}}', '"r-1" string'),
    ],
)
def test_values_are_shown_as_what_they_are(line: str, wanted: str) -> None:
    assert wanted in check_tokens(line)


def test_of_a_broken_line_what_can_be_read_is_shown() -> None:
    assert check_tokens('{"event_type":"round-end","verdict":,"findings_filed":1 2,') == [
        '"event_type" property',
        '"round-end" function',
        '"verdict" property',
        '"findings_filed" property',
        "1 number",
        "2 number",
    ]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (
            '{"ts":"2026","qa":"pa',
            ['"ts" property.envelope', '"2026" number.envelope', '"qa" property'],
        ),
        ("{'event_type':'round-end'}", []),
        ('{"ts":"2026",\'qa\':"pass"}', ['"ts" property.envelope', '"2026" number.envelope']),
        ("<<<<<<< HEAD", []),
        ("nullable trueish 1.5.0", []),
        ('["a",{"b":[true]}]', ['"a" string', '"b" property', "true keyword"]),
        ("", []),
    ],
)
def test_where_quotes_are_wrong_nothing_is_guessed(line: str, wanted: list[str]) -> None:
    assert check_tokens(line) == wanted


def test_text_beyond_the_bmp_is_counted_in_the_units_of_the_client() -> None:
    shown = check_tokens('EVENT{"event_type":"triage-verdict","input_ref":"🚀 日本 é"}')
    assert '"🚀 日本 é" string' in shown
    assert shown.index('"input_ref" property') < shown.index('"🚀 日本 é" string')


def test_an_empty_file_has_none() -> None:
    assert check_tokens_of("") == []
    assert check_tokens_of("\n\n") == []


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r\n\r\n", "\n\n\n"])
def test_line_ends_of_every_kind_are_counted(end: str) -> None:
    line = read('EVENT{"event_type":"project-started"}<eof>').text
    assert check_tokens_of(end.join((line, line, ""))) == 2 * check_tokens_of(line)


def test_a_record_that_is_several_lines_of_the_protocol_is_shown_on_each() -> None:
    line = read('EVENT{"event_type":"project-started"}<eof>').text
    broken = line.replace(',"', ',\r"').replace("checkout-retry", "🚀\rb")
    shown = check_tokens_of(f"{line}\n\r{broken}\n{line}\n")
    assert '"🚀 variable.envelope' in shown
    assert 'b" variable.envelope' in shown
    assert shown.count('"project-started" namespace') == 3


# What a client knows


def test_a_client_that_knows_few_types_gets_the_nearest() -> None:
    text = read('EVENT{"event_type":"dispatch-start"}').text
    known = frozenset({"string", "number", "keyword", "property"})
    look = TokenLook(PositionEncoding.UTF16, known, frozenset())
    answer = tokens(Analysis(text), look)
    shown = shown_tokens(text, numbers_of(answer), look.encoding)
    assert '"dispatch-start" keyword' in shown
    assert '"77ce3f13-a067-4f13-a4e0-93dbae3137ae" string' in shown
    assert {each.rpartition(" ")[2] for each in shown} == known
    answer = tokens(Analysis(text), look._replace(types=frozenset({"comment"})))
    assert numbers_of(answer) == []


def test_the_legend_is_the_protocols_but_for_the_envelope() -> None:
    assert set(LEGEND.token_types) <= {each.value for each in types.SemanticTokenTypes}
    known = {each.value for each in types.SemanticTokenModifiers}
    assert set(LEGEND.token_modifiers) - known == {"envelope"}


def test_a_range_is_answered_whatever_it_is() -> None:
    analysis = Analysis(read('EVENT{"event_type":"round-start"}').text)
    far = types.Range(types.Position(5, 0), types.Position(9, 9))
    assert numbers_of(tokens_in(analysis, far, UTF16)) == []
    turned = types.Range(types.Position(3, 0), types.Position(0, 0))
    assert numbers_of(tokens_in(analysis, turned, UTF16)) == []
