"""Scores of traces that tests have as a text, or analysed."""

from drive_trace.analysis import Analysis
from drive_trace.report import event_log
from drive_trace.scorecard.card import ScoreCard, score
from drive_trace.scorecard.scoring import ScoredTrace, TraceSummary, summarize


def summarize_text(text: str, path: str = "") -> TraceSummary:
    """A trace, summed up for the scorecard without looking for findings."""
    return ScoredTrace(text.split("\n"), path).summary()


def read_log(text: str, path: str = "") -> event_log.TraceLog:
    """What a report needs of a trace."""
    return event_log.read_log(text.split("\n"), path)


def score_of(analysis: Analysis) -> ScoreCard:
    """The scorecard of one trace alone."""
    return score([summarize(analysis.index)])
