"""The pygls shell: protocol, workspace, scheduling, settings."""
