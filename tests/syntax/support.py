"""What the tests of the parser share."""

from drive_trace.json_text import parse


def repaired(text: str) -> str:
    """The text after every safe repair, one after the other."""
    for _ in range(20):
        repairs = [r for p in parse(text).problems for r in p.repairs if r.safe]
        if not repairs:
            break
        for span, new in reversed(repairs[0].edits):
            text = text[: span.start] + new + text[span.end :]
    return text
