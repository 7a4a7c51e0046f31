"""The handlers of all requests. The features do the work."""

from drive_trace.lsp.handlers import code_actions, requests  # noqa: F401 - they declare handlers
