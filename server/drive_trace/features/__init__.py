"""What editors ask for: one file a method of the protocol, each a pure function."""
