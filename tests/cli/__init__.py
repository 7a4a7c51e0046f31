"""The command line, from outside: what is printed, what it exits with, and what it never does."""
