"""What the events of a run say beside its score: how long was worked, on which models, and which
figures nobody should believe.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, NamedTuple, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import asdict

from drive_trace.scorecard.dispatches import Event, named_by
from drive_trace.trace.run import FORGOTTEN_MS
from drive_trace.trace.times import epoch_milliseconds, sortable
from drive_trace.vocabulary import COST, DISPATCH, EVENTS, TOKEN_FIELDS, Entity

_SILENT = re.compile(r"\b(inherit(ed)?|default)\b")
"""In the name of a model that names none."""
_WORD = re.compile(r"[a-z]+|[0-9]+")
_VENDORS = {"anthropic", "claude", "gemini", "google", "gpt", "mistral", "openai"}
"""Words that models of one vendor share, whatever else they are."""
_START_AND_END = (DISPATCH.opener, DISPATCH.closer)
A_MILLION = 1_000_000
_ENDING = (Entity.RUN, Entity.DISPATCH)
"""What has to end where it was started, before a run has ended."""


Dollars: TypeAlias = Annotated[float, Meta(ge=0, le=A_MILLION)]


class TokenPrices(Struct, frozen=True, forbid_unknown_fields=True):
    """What a model costs, in dollars for a million tokens of each kind."""

    input: Dollars
    output: Dollars
    cache_read: Dollars
    cache_write: Dollars

    def cost(self, tokens: Mapping[str, int | None]) -> float | None:
        """Dollars for some tokens; None where a kind of them is unknown."""
        total = 0.0
        for kind, price in asdict(self).items():
            count = tokens[f"{kind}_tokens"]
            if count is None:
                return None
            total += count * price
        return total / A_MILLION


Prices: TypeAlias = dict[str, TokenPrices]
"""By the name of a model; ``*`` stands for every other one."""


class Traced(NamedTuple):
    """What the events of one run say."""

    working_ms: int | None = None
    """How long a dispatch was open, one at least; None where that cannot be known."""
    models: frozenset[str] = frozenset()
    """Those that dispatches were started on; untrusted."""
    doubted: frozenset[str] = frozenset()
    """The costs that were recorded before the work was over."""
    last_work: str = ""
    """When it was last worked on, as it sorts; empty where no such time can be read."""
    is_open: bool = False
    """Whether the run was started and never closed, or a dispatch of it never ended."""


NOTHING_TRACED = Traced()


def traced(events: Sequence[Event]) -> Traced:
    """Read the events of a run, in their order and without copies."""
    models = {str(each.values["model"] or "") for each in events if each.name == DISPATCH.opener}
    told = max((sortable(each.ts) or "" for each in events if each.name == COST), default=None)
    works = [sortable(each.ts) for each in events if EVENTS[each.name].is_work]
    goes_on = told is not None and any((each or "~") > told for each in works)
    types = [(EVENTS[each.name], each.values.get(DISPATCH.field)) for each in events]
    opened = {(each.opens, which) for each, which in types if each.opens in _ENDING}
    return Traced(
        _open_for(events),
        frozenset(each for each in models if each and not _SILENT.search(each.lower())),
        frozenset(TOKEN_FIELDS if goes_on else ()),
        max(filter(None, works), default=""),
        not opened <= {(each.closes, which) for each, which in types},
    )


def _open_for(events: Iterable[Event]) -> int | None:
    """How long one of the dispatches at least was open, in milliseconds. None where there is none,
    or one has no start or no end, took no time, or was forgotten.
    """
    own = (each for each in events if each.name in _START_AND_END)
    mentions = ((each.text(DISPATCH.field), each.name, each) for each in own)
    found: list[tuple[int | None, int | None]] = []
    for named in named_by(Entity.DISPATCH, mentions).values():
        if [each.name for each in named] != [*_START_AND_END] * (len(named) // 2):
            return None
        times = [epoch_milliseconds(each.ts) for each in named]
        found += zip(times[::2], times[1::2], strict=True)
    known = ((start, end) for start, end in found if start is not None and end is not None)
    spans = [(start, end) for start, end in known if 0 < end - start <= FORGOTTEN_MS]
    if not found or len(spans) < len(found):
        return None
    total = until = 0
    for start, end in sorted(spans):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


def fit(one: str, other: str) -> bool:
    """Whether two names may be of one model: ``sonnet`` and ``claude-sonnet-4``."""
    words, others = (set(_WORD.findall(each.lower())) for each in (one, other))
    named = {each for each in words & others if each.isalpha()} - _VENDORS
    return words <= others or words >= others or bool(named)
