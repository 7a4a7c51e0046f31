"""The features of editors: a file for each method of the protocol, or for a few related ones."""
