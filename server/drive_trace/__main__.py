"""``python -m drive_trace``: the command line, where no ``drive-trace`` is on the path."""

from drive_trace.commands import main

if __name__ == "__main__":
    main()
