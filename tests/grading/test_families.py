"""The family of a model is read from its id."""

import pytest

from drive_trace.grading.calibration import FAMILIES, families_of


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-4.6-sonnet-high-thinking", "claude"),
        ("anthropic/claude-opus-4", "claude"),
        ("us.anthropic.claude-3-5-haiku-20241022-v1:0", "claude"),
        ("claude-sonnet-4@20250514", "claude"),
        ("gpt-5.5", "gpt"),
        ("openai/gpt-oss-120b", "gpt"),
        ("o4-mini", "gpt"),
        ("openai/o3", "gpt"),
        ("openai.o1-preview", "gpt"),
        ("ft:gpt-4o-mini:acme::abc", "gpt"),
        ("gpt4o", "gpt"),
        ("models/gemini-3-pro", "gemini"),
        ("composer-2", "composer"),
        ("x-ai/grok-4", "grok"),
        ("meta-llama/Llama-4-Scout", "llama"),
        ("us.meta.llama3-3-70b-instruct-v1:0", "llama"),
        ("mistralai/Mixtral-8x7B", "mistral"),
        ("codestral-latest", "mistral"),
        ("Qwen/Qwen3-Coder", "qwen"),
        ("qwq-32b", "qwen"),
        ("deepseek-chat", "deepseek"),
        ("GPT", "gpt"),
        ("ollama/qwen2.5", "qwen"),
        ("TheBloke/Llama-2-7B-GPTQ", "llama"),
    ],
)
def test_a_known_one(model: str, family: str) -> None:
    assert families_of(model) == {family}
    assert family in FAMILIES


def test_a_distilled_model_is_of_both() -> None:
    assert families_of("deepseek-r1-distill-llama-70b") == {"deepseek", "llama"}


@pytest.mark.parametrize(
    "model", ["", "my-model", "azure/prod", "command-r", "o", "foo-o3", "llamafile/x"]
)
def test_an_unknown_one_is_not_guessed(model: str) -> None:
    assert families_of(model) == frozenset()


def test_the_configuration_knows_more() -> None:
    more = {"cohere": ["command"], "claude": ["prod-7"]}
    assert families_of("command-r", more) == {"cohere"}
    assert families_of("PROD-7", more) == {"claude"}
    assert families_of("cohere", more) == {"cohere"}
