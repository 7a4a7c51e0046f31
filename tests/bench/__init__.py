"""The benchmark: `python -m tests.bench` prints measurements beside their targets."""
