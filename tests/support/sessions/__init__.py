"""Sessions of a client that now and then does what no client should, and what is to come of them.

`steps` and `wrong` say what a client may do, `conversation` what it expects, `model` what it knows,
and `channels` how it gets at a server: within this process, or at the end of two pipes.
"""
