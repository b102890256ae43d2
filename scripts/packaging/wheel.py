# SPDX-License-Identifier: MIT
"""The wheel with the programs: the Python client's wheel, and the bundle in clusterd/_daemon."""
import json
import os
import sys

import archives
from packaging_steps import ROOT

sys.path.insert(0, os.path.join(ROOT, "clients/python/backend"))
import clusterd_build  # noqa: E402

TAG = "py3-none-manylinux_2_36_x86_64"
#: Only the wheel with the programs has these: without them they would hide an installation's programs.
SCRIPTS = {name: f"clusterd._programs:{name}" for name in ("clusterd", "clusterctl")}
#: Of the bundle's share/, only what the programs read.
SHARED = "share/clusterd/"


def write(folder, epoch, tree, document):
    contents = clusterd_build.modules()
    licences = {}
    for path, _, names in os.walk(tree):
        for name in names:
            full = os.path.join(path, name)
            member = os.path.relpath(full, tree)
            with open(full, "rb") as file:
                content = file.read()
            if member.startswith(SHARED + "licenses/"):
                licences[member[len(SHARED + "licenses/"):]] = content
            elif not member.startswith("share/") or member.startswith(SHARED):
                contents[f"clusterd/_daemon/{member}"] = content
    sboms = {"clusterd.cdx.json": json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"}
    clusterd_build.wheel(folder, contents, tag=TAG, epoch=epoch, licences=licences, sboms=sboms, scripts=SCRIPTS, level=archives.level)
