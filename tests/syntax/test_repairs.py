"""How one record is read: what is safely mended, and what is only suggested."""

import pytest

from drive_trace.json_text import parse
from tests.syntax.support import repaired

SAFE_REPAIRS = [
    ('{"a":[1,],},', '{"a":[1]}'),
    ("{'a':'it\\'s \"b\"','c':'\t'}", '{"a":"it\'s \\"b\\"","c":"\\t"}'),
    ("{“a”:‘b’}", '{"a":"b"}'),
    ('{"a"/* */:1} // "', '{"a":1} '),
    ('\ufeff{"a":1}', '{"a":1}'),
    ('{"a"\xa0:\u30001}\u2028', '{"a":1}'),
    ('{"a":"\t\x1f\r"}', '{"a":"\\t\\u001f\\r"}'),
    ("{'a':True,\xa0'b':[None,],}", '{"a":true,"b":[null]}'),
    ("{a:1}", '{"a":1}'),
    ('{"a"="b","c" => 1,"d"\uff1a2}', '{"a":"b","c" : 1,"d":2}'),
    ("{a=1}", '{"a":1}'),
    (
        '\uff5b\u201ca\u201d\uff1a\uff3b1\uff0c2\uff3d\uff0c"b"\uff1a"\uff0c"\uff5d',
        '{"a":[1,2],"b":"\uff0c"}',
    ),
]

ONLY_SUGGESTED = [
    "{'a':'it's'}",
    '{"a":1, // "b":2}',
    '// {"a":1}',
    '{"a":NaN}',
    '{"a":01}',
    '{"a":undefined}',
    '{"a":pass,}',
    '{"a":1 "b":2}',
    '{"a":1}{"b":',
    "{'a':1}{'b':2,}",
    '{"a":1,,"b":2}',
    '{"a":"\\x41"}',
    '{"a":1,...}',
    '{"a":1',
]


@pytest.mark.parametrize(("line", "expected"), SAFE_REPAIRS)
def test_safe_repairs_end_in_json(line: str, expected: str) -> None:
    assert repaired(line) == expected
    assert not any(parse(record).problems for record in expected.split("\n"))


@pytest.mark.parametrize("line", ONLY_SUGGESTED)
def test_a_guess_is_never_safe(line: str) -> None:
    problems = parse(line).problems
    assert problems
    assert not any(repair.safe for problem in problems for repair in problem.repairs)
