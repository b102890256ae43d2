# SPDX-License-Identifier: MIT
"""The console scripts `clusterd` and `clusterctl`: they replace themselves by the programs."""
from __future__ import annotations

import os
import sys
from typing import NoReturn

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_daemon", "bin")


def clusterd() -> NoReturn:
    """Runs the daemon."""
    _replace("clusterd")


def clusterctl() -> NoReturn:
    """Runs the daemon's client for the command line."""
    _replace("clusterctl")


def _replace(name: str) -> NoReturn:
    path = os.path.join(_FOLDER, name)
    # clusterctl asks this Python to read Parquet.
    os.environ.setdefault("CLUSTERD_PYTHON", sys.executable)
    try:
        os.execv(path, [name, *sys.argv[1:]])
    except FileNotFoundError:
        message = f"{path} is missing: install clusterd's wheel for this system again"
    except OSError as error:
        message = f"{path} cannot be run: {error.strerror}"
    sys.exit(f"{name}: {message}")
