# SPDX-License-Identifier: MIT
"""A daemon for this process alone, which ends with it, however it ends."""
from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO, Optional

from ._errors import Status, make_error

#: How long the daemon may take to answer, and to end, in seconds.
START, END = 20.0, 4.0
_WHEEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_daemon", "bin", "clusterd")

#: Runs the daemon beside this process, in a session of its own, so that a kernel's interrupts do not reach it. The pipe to it
#: ends with this process even if that is killed; a process that was forked from it may still hold the pipe, so the parent
#: counts, too.
_KEEPER = """
import os, select, shutil, signal, subprocess, sys
folder, program = sys.argv[1:3]
parent = int(sys.argv[3])
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
daemon = None
try:
    with open(folder + "/log", "wb") as log:
        daemon = subprocess.Popen([program, "--config", folder + "/clusterd.json", "--socket", folder + "/socket"],
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    while daemon.poll() is None and os.getppid() == parent:
        if select.select([0], [], [], 0.5)[0] and not os.read(0, 1):
            break
    if daemon.poll() is not None:  # by itself: what it said is why
        with open(folder + "/log", errors="replace") as log:
            print(log.read()[-500:].strip())
finally:
    if daemon is not None and daemon.poll() is None:
        daemon.terminate()
        try:
            daemon.wait(2)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()
    shutil.rmtree(folder, ignore_errors=True)
"""


class Embedded:
    """A started daemon: `path` is its socket. It ends when `release` has been called as often as `acquire`."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="clusterd-")
        self.path = f"{self.folder}/socket"
        self._process = os.getpid()
        self._users = 0
        program = _program()
        with open(f"{self.folder}/clusterd.json", "w", encoding="utf-8") as file:
            file.write("{}")
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", "-c", _KEEPER, self.folder, program, str(os.getpid())], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )
        try:
            self._await(program)
        except BaseException:
            self.close()
            raise

    def _await(self, program: str) -> None:
        end = time.monotonic() + START
        while True:
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    return probe.connect(self.path)
                except OSError:
                    pass
            if self._keeper.poll() is not None or time.monotonic() > end:
                raise make_error(Status.UNAVAILABLE, f"{program} does not start: {self._said() or 'it does not answer'}")
            time.sleep(0.01)

    def _said(self) -> str:
        """Why the daemon has ended, in its own words."""
        pipe: Optional[IO[bytes]] = self._keeper.stdout
        if pipe is None or self._keeper.poll() is None:
            return ""
        return pipe.read().decode(errors="replace").strip()

    def close(self) -> None:
        """Ends the daemon and removes its folder. Not for a process that was forked from the one that started it."""
        if os.getpid() != self._process:
            return
        if self._keeper.stdin is not None:
            self._keeper.stdin.close()
        try:
            self._keeper.wait(END)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()
        if self._keeper.stdout is not None:
            self._keeper.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _program() -> str:
    named = os.environ.get("CLUSTERD_PROGRAM")
    found = named or (_WHEEL if os.path.exists(_WHEEL) else shutil.which("clusterd"))
    if not found:
        raise make_error(
            Status.UNAVAILABLE,
            "there is no daemon: install clusterd's wheel or package, or name the program in $CLUSTERD_PROGRAM",
        )
    return found


_lock = threading.Lock()
_current: Optional[Embedded] = None


def acquire() -> Embedded:
    """The process's daemon, started at first use."""
    global _current
    with _lock:
        if _current is None or _current._process != os.getpid() or _current._keeper.poll() is not None:
            _current = Embedded()
        _current._users += 1
        return _current


def release(daemon: Embedded) -> None:
    """Gives a daemon back; the last one that does ends it."""
    global _current
    with _lock:
        daemon._users -= 1
        if daemon._users > 0:
            return
        if _current is daemon:
            _current = None
    daemon.close()


@atexit.register
def _end() -> None:
    if _current is not None:
        _current.close()
