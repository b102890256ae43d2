# SPDX-License-Identifier: MIT
"""The program clusterctl: where it is, and how executors get it."""
from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import tarfile
from typing import List, Optional, Tuple

#: The program in the archive that executors unpack.
MEMBER = "bin/clusterctl"


def find() -> Optional[str]:
    """The program: `$CLUSTERCTL`, that of the installed wheel, or the one on `PATH`; None if there is none."""
    given = os.environ.get("CLUSTERCTL")
    if given:
        return os.path.abspath(given)
    spec = importlib.util.find_spec("clusterd")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = os.path.join(folder, "_daemon", MEMBER)
        if os.access(path, os.X_OK):
            return path
    return shutil.which("clusterctl")


def ship(context, program: str) -> str:
    """Lets all executors have the program and the libraries beside it; returns the name of the folder that they find it in."""
    from pyspark import SparkFiles

    members = _members(os.path.realpath(program))
    state = "\n".join(f"{name} {os.stat(path).st_size} {os.stat(path).st_mtime_ns}" for name, path in members)
    name = f"clusterctl-{hashlib.sha256(state.encode()).hexdigest()[:16]}.tar"
    # Executors that start later fetch it too, so it stays as long as Spark's own files.
    path = os.path.join(SparkFiles.getRootDirectory(), "archives", name)
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with tarfile.open(path + ".part", "w", dereference=True) as archive:
            for member, source in members:
                archive.add(source, member, recursive=False)
        os.rename(path + ".part", path)
        context.addArchive(path)
    return name


def _members(program: str) -> List[Tuple[str, str]]:
    """The files that the program needs, by their names in the archive: an unpacked release has libraries of its own."""
    members = [(MEMBER, program)]
    base = os.path.dirname(os.path.dirname(program))
    if base in ("/", "/usr", "/usr/local") or not os.path.isdir(os.path.join(base, "share/clusterd")):
        return members
    for folder in ("lib", "share/clusterd"):
        for path, _, names in sorted(os.walk(os.path.join(base, folder))):
            members += [(os.path.relpath(os.path.join(path, name), base), os.path.join(path, name)) for name in sorted(names)]
    return members
