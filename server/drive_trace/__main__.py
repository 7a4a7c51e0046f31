"""The way in: ``drive-trace``, and ``python -m drive_trace`` where that is not on the path."""

from drive_trace.interrupts import end_when_interrupted


def main() -> None:
    """Run the command line. Ctrl-C counts from here on, not only when the rest is loaded."""
    end_when_interrupted()
    from drive_trace.commands import main as run  # noqa: PLC0415

    run()


if __name__ == "__main__":
    main()
