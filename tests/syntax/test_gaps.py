"""Words that stand for a number still to be filled in: the reader of records knows them all."""

from drive_trace.json_text.tokens import GAPS
from drive_trace.vocabulary import EVENTS


def test_every_word_that_an_inserted_field_has_is_known() -> None:
    fields = [field for event in EVENTS.values() for field in event.fields.values()]
    assert {field.gap for field in fields if field.gap is not None} == GAPS
