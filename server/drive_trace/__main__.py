"""The way in: ``drive-trace``, and ``python -m drive_trace`` where that is not on the path."""

import gc
import os
import signal
import sys

# Ctrl-C counts from here on, before anything else is loaded. The parent process may want it
# ignored, as a shell does for a background job.
if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))


def main() -> None:
    """Run the command line."""
    gc.disable()  # a command ends before garbage matters, and collecting costs a third of its time
    if sys.argv[1:] == ["hook", "claude-code"]:  # after each step of an agent: without click
        from drive_trace.hook import main as act  # noqa: PLC0415 - only here

        os._exit(act())
    from drive_trace.commands import main as run  # noqa: PLC0415 - it takes a while

    run()


if __name__ == "__main__":
    main()
