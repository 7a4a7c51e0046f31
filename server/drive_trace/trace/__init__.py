"""A trace as lines: read, edited in place, and indexed by what they are about."""
