"""What ``check`` is made of."""
