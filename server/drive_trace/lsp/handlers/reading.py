"""Answers that tell what a trace says: hover, code lenses, inlay hints and semantic tokens."""

from __future__ import annotations

from datetime import UTC, datetime

from lsprotocol import types

from drive_trace.features import tokens
from drive_trace.features.code_lens import code_lenses, resolve_lens
from drive_trace.features.hover import hover
from drive_trace.features.hover.pointed import HoverOptions
from drive_trace.features.inlay_hints import inlay_hints, resolve_hint
from drive_trace.lsp.handlers.base import Answer, Asked, Resolve
from drive_trace.lsp.rpc.capabilities import Client
from drive_trace.trace.occurrences import run_id_of


def _hover(asked: Asked, params: types.HoverParams) -> types.Hover | None:
    point = asked.point(params.position)
    run_id = run_id_of(asked.analysis.document.lines[point.record])
    options = HoverOptions(
        uri=asked.trace.uri,
        now=datetime.now(UTC),
        url_of=asked.trace.options.url_of,
        joined=asked.joined(run_id) if run_id is not None else None,
    )
    return hover(asked.analysis, point, asked.encoding, asked.client.hover_format, options)


def _code_lens(asked: Asked, _params: types.CodeLensParams) -> list[types.CodeLens]:
    return code_lenses(asked.analysis, asked.trace.uri, asked.encoding, asked.settings.lens)


def _resolve_lens(_client: Client, asked: Asked | None, lens: types.CodeLens) -> types.CodeLens:
    if asked is None:
        return resolve_lens(None, lens)
    return resolve_lens(asked.analysis, lens, asked.joined)


def _inlay_hint(asked: Asked, params: types.InlayHintParams) -> list[types.InlayHint]:
    return inlay_hints(
        asked.analysis,
        params.range,
        asked.encoding,
        asked.settings.inlay_hints,
        explained_later_of=asked.trace.uri if asked.client.resolves_hint_tooltips else None,
    )


def _resolve_hint(_client: Client, asked: Asked | None, hint: types.InlayHint) -> types.InlayHint:
    return resolve_hint(asked.analysis if asked is not None else None, hint)


def _look(asked: Asked) -> tokens.TokenLook:
    client = asked.client
    return tokens.TokenLook(client.encoding, client.token_types, client.token_modifiers)


def _tokens(asked: Asked, _params: types.SemanticTokensParams) -> object:
    answer, asked.trace.tokens = tokens.tokens(asked.analysis, _look(asked))
    return answer


def _changed_tokens(asked: Asked, params: types.SemanticTokensDeltaParams) -> object:
    answer, asked.trace.tokens = tokens.changed_tokens(
        asked.analysis, _look(asked), asked.trace.tokens, params.previous_result_id
    )
    return answer


def _tokens_in(asked: Asked, params: types.SemanticTokensRangeParams) -> object:
    return tokens.tokens_in(asked.analysis, params.range, _look(asked))


ANSWERS = (
    Answer(types.TEXT_DOCUMENT_HOVER, _hover, looks_elsewhere=True),
    Answer(
        types.TEXT_DOCUMENT_CODE_LENS,
        _code_lens,
        types.CodeLensOptions(resolve_provider=True),
        of_nothing=(),
    ),
    Answer(types.TEXT_DOCUMENT_INLAY_HINT, _inlay_hint, of_nothing=()),
    Answer(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _tokens, tokens.LEGEND),
    Answer(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, _changed_tokens),
    Answer(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, _tokens_in),
)

RESOLVES = (
    Resolve(types.CODE_LENS_RESOLVE, _resolve_lens, looks_elsewhere=True),
    Resolve(types.INLAY_HINT_RESOLVE, _resolve_hint),
)
