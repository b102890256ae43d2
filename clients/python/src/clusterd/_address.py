# SPDX-License-Identifier: MIT
"""Where the daemon's socket is, and what to do if nobody answers there."""
from __future__ import annotations

import errno
import os
from typing import List, Mapping, Optional, Tuple

from ._errors import ClusterdError, Status, make_error

SYSTEM_SOCKET = "/run/clusterd/clusterd.sock"


def candidates(path: Optional[str], environment: Optional[Mapping[str, str]] = None) -> List[str]:
    """The sockets to try, in order. A path that the user names is the only one."""
    variables = os.environ if environment is None else environment
    named = path or variables.get("CLUSTERD_SOCKET")
    if named:
        return [named]
    session = variables.get("XDG_RUNTIME_DIR")
    return ([session + "/clusterd.sock"] if session else []) + [SYSTEM_SOCKET]


def connect_error(failures: List[Tuple[str, OSError]]) -> ClusterdError:
    """Why none of the sockets could be used, and what to do."""
    denied = next((path for path, error in failures if error.errno in (errno.EACCES, errno.EPERM)), None)
    if denied is not None:
        return make_error(
            Status.PERMISSION_DENIED,
            f"permission to open the socket {denied} is denied; its mode and its group decide who may open it",
        )
    tried = ", ".join(f"{path} ({error.strerror or error})" for path, error in failures)
    return make_error(
        Status.UNAVAILABLE,
        f"no daemon answers at {tried}: start clusterd, or name its socket by path or $CLUSTERD_SOCKET",
    )
