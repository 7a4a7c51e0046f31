"""What editors ask for, a module a method of the protocol."""
