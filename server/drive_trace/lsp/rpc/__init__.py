"""Messages between client and server: the stream, dispatch, errors, and long work beside it."""
