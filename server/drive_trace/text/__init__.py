"""Spans and positions in a text, escaping of untrusted text, and wording of messages."""
