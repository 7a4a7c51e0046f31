"""Events to append, fix-all, and what agents' tools log: usage, and transcripts.

Events are composed for a place of a trace: what is known is filled in, the rest is left
blank. A composed event is a list of *slots* in the order of the vocabulary. Ids, the time, measured
durations and whatever the vocabulary leaves no choice about are *known*; what is merely
likely is offered first; everything else is *open*, with the values that are allowed or were
used before. No fact is made up: what only a person can know stays open.
"""
