"""The language server: the protocol, the workspace, and the handlers of requests."""
