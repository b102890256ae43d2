# SPDX-License-Identifier: MIT
"""A build's steps as tasks of Spark."""
from __future__ import annotations

from typing import Callable, Iterable, Iterator, Tuple

#: The exit status for inputs or options at fault: no other attempt would succeed.
REFUSED = 5


def task(archive: str, member: str) -> Callable[[Iterable[str]], Iterator[Tuple[float, float, str]]]:
    """What a task does with its steps: runs each, and gives its start and end in seconds since 1970 and why it was refused.

    The function and all that it needs are sent to the executors, which need not have this module.
    """
    refused = REFUSED

    class StepError(Exception):
        """Why a step failed. Spark tries again, as often as spark.task.maxFailures says."""

    def run(steps: Iterable[str]) -> Iterator[Tuple[float, float, str]]:
        import ctypes
        import os
        import signal
        import subprocess
        import sys
        import time

        from pyspark import SparkFiles

        program = os.path.join(SparkFiles.get(archive), member)
        if not os.access(program, os.X_OK):
            os.chmod(program, 0o755)  # Spark does not unpack files' modes.
        system = ctypes.CDLL(None)
        # Reads Parquet, with what this Python has installed.
        environment = {**os.environ, "CLUSTERD_PYTHON": sys.executable}

        def end_with_executor() -> None:
            system.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG

        for step in steps:
            start = time.time()
            done = subprocess.run(
                [program, "build-step", "@-"], input=step.encode(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                env=environment, preexec_fn=end_with_executor)
            said = "; ".join(done.stderr.decode("utf-8", "replace").strip().splitlines()[-3:])
            if done.returncode not in (0, refused):
                raise StepError(said or f"it ended with status {done.returncode}")
            yield start, time.time(), said if done.returncode == refused else ""
            if done.returncode == refused:
                return

    return run
