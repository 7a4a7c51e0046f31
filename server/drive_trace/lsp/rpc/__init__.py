"""Messages between client and server: the stream, dispatch, errors, and tasks beside them."""
