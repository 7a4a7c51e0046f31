"""The pygls shell: protocol, workspace, settings."""
