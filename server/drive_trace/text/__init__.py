"""Spans and positions in a text, and how text from a stranger is shown."""
