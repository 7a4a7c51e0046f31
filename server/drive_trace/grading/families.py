"""Families of models: a judge of the orchestrator's own family would grade its own kind.

The family of a model is read from its id, which may have a provider, a region and a version around
it: ``anthropic/claude-sonnet-4``, ``us.anthropic.claude-3-5-haiku-20241022-v1:0``, ``o4-mini``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import chain

_WORDS: Mapping[str, str] = {
    "claude": "claude.*|anthropic|sonnet|opus|haiku",
    "gpt": r"gpt(?:\d.*|oss)?|chatgpt.*|codex.*|openai",
    "gemini": "gemini.*|gemma.*",
    "composer": r"composer\d*",
    "grok": r"grok\d*",
    "llama": r"(?:code)?llama\d*",
    "mistral": "mistral.*|mixtral.*|ministral.*|magistral.*|codestral.*|devstral.*|pixtral.*",
    "qwen": r"qwen.*|qwq|qvq",
    "deepseek": "deepseek.*",
}
_O_SERIES = re.compile(r"o\d+")
FAMILIES = tuple(_WORDS)
"""The names of the families that are known."""


def families_of(model: str, more: Mapping[str, Collection[str]] = {}) -> frozenset[str]:
    """The families that a model is of; of several where one was distilled from another, as
    ``deepseek-r1-distill-llama-70b``, and of none that is known where there is none.

    ``more`` are the families of the configuration, each with the words that its models' ids have;
    a word counts where the id has it as a whole word, whatever its case. The name of a family is of
    itself.
    """
    name = model.lower()
    if name in _WORDS or name in more:
        return frozenset({name})
    *before, last = (re.findall("[a-z0-9]+", each) for each in name.split("/"))
    words = [*chain(*before), *last]
    found = {
        family
        for family, pattern in _WORDS.items()
        if any(re.fullmatch(pattern, each) for each in words)
    }
    # `o3` is OpenAI's where the model's name begins with it, behind the provider's or nothing.
    if last and any(_O_SERIES.fullmatch(each) for each in last[: 1 + (last[0] == "openai")]):
        found.add("gpt")
    for family, marks in more.items():
        if {each.lower() for each in marks} & {*words, name}:
            found.add(family)
    return frozenset(found)
