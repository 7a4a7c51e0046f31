"""What is behind :mod:`drive_trace.features.semantic_tokens`: kinds of tokens, and finding them."""
