"""Answers that tell what a trace says: hover and code lenses."""

from __future__ import annotations

from lsprotocol import types

from drive_trace.features.code_lens import code_lenses
from drive_trace.features.elsewhere import run_at
from drive_trace.features.hover import hover
from drive_trace.lsp.answers.base import Answer, Asked


def _hover(asked: Asked, params: types.HoverParams) -> types.Hover | None:
    point = asked.point(params.position)
    run_id = run_at(asked.analysis, point)
    elsewhere = asked.elsewhere(run_id) if run_id is not None else None
    return hover(asked.analysis, point, asked.encoding, asked.client.hover_format, elsewhere)


def _code_lens(asked: Asked, _params: types.CodeLensParams) -> list[types.CodeLens]:
    return code_lenses(asked.analysis, asked.trace.uri, asked.encoding, asked.settings.lens)


ANSWERS = (
    Answer(types.TEXT_DOCUMENT_HOVER, _hover, looks_elsewhere=True),
    Answer(
        types.TEXT_DOCUMENT_CODE_LENS,
        _code_lens,
        types.CodeLensOptions(resolve_provider=True),
        of_nothing=(),
    ),
)
