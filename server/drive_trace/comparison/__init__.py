"""Two sides of runs, compared: the gate first, then cost, and one of four answers. Pure."""
