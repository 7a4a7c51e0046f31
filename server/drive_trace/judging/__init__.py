"""Asking models: the one boundary between this project and whatever grades for it."""
