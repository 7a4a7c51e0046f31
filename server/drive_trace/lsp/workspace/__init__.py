"""What the server knows: open and closed traces, settings, and the runs over all of them."""
