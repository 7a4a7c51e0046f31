"""The report: the scorecard, metrics, assertions and timelines on one page."""
