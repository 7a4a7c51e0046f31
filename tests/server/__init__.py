"""The server as a process at the end of two pipes, spoken to in plain JSON-RPC."""
