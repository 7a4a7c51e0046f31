"""Run a command and print what it cost, as JSON: `python launch.py OUTPUT_FILE COMMAND...`.

A process's peak memory, as the kernel counts it, begins with that of the process which started
it. So the benchmark, which holds whole traces, starts nothing that it measures: this does, and it
imports nothing else.
"""

import json
import os
import sys
import time

_TO_MIB = 2**20 if sys.platform == "darwin" else 2**10


def main(output: str, *command: str) -> None:
    create = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [(os.POSIX_SPAWN_OPEN, 1, output, create, 0o600)]
    started = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - started
    cost = {
        "wall_ms": wall * 1000,
        "cpu_ms": (usage.ru_utime + usage.ru_stime) * 1000,
        "peak_mib": usage.ru_maxrss / _TO_MIB,
        "exit_code": os.waitstatus_to_exitcode(status),
    }
    sys.stdout.write(json.dumps(cost))


main(*sys.argv[1:])
