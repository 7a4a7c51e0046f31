"""``textDocument/foldingRange``: slices, dispatches, rounds, and runs where there are several."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from drive_trace.analysis import Analysis
from drive_trace.features.outline import Outline, OutlineNode, containers, label_of
from drive_trace.features.raw_json import JsonText, dumps
from drive_trace.features.runs import Joined, nothing_joined
from drive_trace.stopping import unless_stopped
from drive_trace.vocabulary import Entity


class FoldingOptions(NamedTuple):
    """What the client can show, and what other files hold."""

    most: int | None = None
    has_text: bool = False
    """Whether it shows a text in place of the folded lines."""
    joined: Joined = nothing_joined
    """For the verdicts in the names of runs."""


class _Fold(NamedTuple):
    first: int
    last: int
    node: OutlineNode


def folding_ranges(analysis: Analysis, roots: Outline, options: FoldingOptions) -> JsonText:
    """The folds of an outline in order, nested, at most one a line. Of too many, the largest."""
    has_several = sum(isinstance(root, OutlineNode) for root in roots) > 1
    nodes = (node for node in containers(roots) if has_several or node.entity is not Entity.RUN)
    every = [_Fold(node.first, node.last, node) for node in nodes if node.first < node.last]
    folds = [*_nested(every)]
    if options.most is not None and len(folds) > options.most:
        largest = sorted(folds, key=lambda fold: fold.first - fold.last)[: max(0, options.most)]
        folds = sorted(largest, key=lambda fold: fold.first)
    line_of = analysis.document.protocol_line
    answer = []
    for fold in unless_stopped(folds):
        folding: dict[str, object] = {
            "startLine": line_of(fold.first),
            "endLine": line_of(fold.last + 1) - 1,
            "kind": "region",
        }
        if options.has_text:
            folding["collapsedText"] = label_of(analysis, fold.node, options.joined).name
        answer.append(folding)
    return JsonText(dumps(answer))


def _nested(folds: Iterable[_Fold]) -> Iterable[_Fold]:
    """Folds that do not cross each other. If dispatches or runs overlap, the first one is folded;
    of two that start on one line, the outer one.
    """
    open_folds: list[_Fold] = []
    for fold in sorted(folds, key=lambda fold: (fold.first, -fold.last)):
        while open_folds and open_folds[-1].last < fold.first:
            open_folds.pop()
        if open_folds and (fold.first == open_folds[-1].first or fold.last > open_folds[-1].last):
            continue
        open_folds.append(fold)
        yield fold
