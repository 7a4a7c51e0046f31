"""The state of the server: open and closed traces, settings, and the runs over all of them."""
