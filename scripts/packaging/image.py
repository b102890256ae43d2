# SPDX-License-Identifier: MIT
"""The OCI image, written without a container engine: a layer of Debian's packages, and one of the bundle."""
import hashlib
import json
import os
import re
import stat
import subprocess
from datetime import datetime, timezone

import archives
from packaging_steps import PackageError, output

#: What the bundle leaves to the system, and libpq with all that it needs.
PACKAGES = ("libc6", "libstdc++6", "libpq5", "base-files", "netbase")
USER = 900
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
UNUSED = re.compile(r"/usr/share/(man|info|locale|lintian|bug|doc-base)/|/usr/share/doc/.*/(?!copyright)[^/]*$|/usr/lib/.*/(gconv|audit)/")


def write(path, version, epoch, tree):
    layers = [archives.tar_bytes(debian_members(), epoch), archives.tar_bytes(bundle_members(tree), epoch)]
    packed = [archives.gzipped(layer) for layer in layers]
    created = datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    labels = {
        "org.opencontainers.image.title": "clusterd", "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "MIT", "org.opencontainers.image.created": created,
        "org.opencontainers.image.description": "Clusters of GeoJSON points over a Unix socket and HTTP",
    }
    config = {
        "created": created, "architecture": "amd64", "os": "linux",
        "config": {
            "User": f"{USER}:{USER}", "WorkingDir": "/var/lib/clusterd", "Entrypoint": ["clusterd"],
            "Cmd": ["--state-dir", "/var/lib/clusterd"], "StopSignal": "SIGTERM", "Labels": labels,
            "Env": ["PATH=/usr/local/bin:/usr/bin:/bin", "CLUSTERD_SOCKET=/run/clusterd/clusterd.sock"],
            "Volumes": {"/var/lib/clusterd": {}, "/run/clusterd": {}},
        },
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in layers]},
        "history": [
            {"created": created, "created_by": "Debian packages: " + ", ".join(closure())},
            {"created": created, "created_by": f"clusterd {version}"},
        ],
    }
    blobs = {}

    def add(data, kind):
        name = hashlib.sha256(data).hexdigest()
        blobs[name] = data
        return {"mediaType": kind, "digest": f"sha256:{name}", "size": len(data)}

    manifest = {
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": add(encoded(config), "application/vnd.oci.image.config.v1+json"),
        "layers": [add(layer, LAYER) for layer in packed], "annotations": labels,
    }
    entry = add(encoded(manifest), "application/vnd.oci.image.manifest.v1+json")
    entry["platform"] = {"architecture": "amd64", "os": "linux"}
    entry["annotations"] = {"org.opencontainers.image.ref.name": version}
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [entry]}
    members = [
        (archives.regular("oci-layout"), encoded({"imageLayoutVersion": "1.0.0"})),
        (archives.regular("index.json"), encoded(index)), (archives.directory("blobs"), None),
        (archives.directory("blobs/sha256"), None),
        *((archives.regular(f"blobs/sha256/{name}"), data) for name, data in blobs.items()),
    ]
    with open(path, "wb") as file:
        file.write(archives.tar_bytes(members, epoch))


def encoded(value):
    return json.dumps(value, indent=1, sort_keys=True).encode() + b"\n"


def bundle_members(tree):
    yield from archives.tree_members(tree, "opt/clusterd")
    for parent in ("opt", "usr", "usr/bin", "etc", "var", "var/lib", "run"):
        yield archives.directory(parent), None
    for program in ("clusterd", "clusterctl"):
        yield archives.link(f"usr/bin/{program}", f"/opt/clusterd/bin/{program}"), None
    for folder, mode in (("var/lib/clusterd", 0o700), ("run/clusterd", 0o755)):
        yield archives.directory(folder, mode, USER), None
    yield archives.directory("tmp", 0o1777), None
    users = f"root:x:0:0:root:/root:/usr/sbin/nologin\nclusterd:x:{USER}:{USER}:clusterd:/var/lib/clusterd:/usr/sbin/nologin\n"
    yield archives.regular("etc/passwd"), users.encode()
    yield archives.regular("etc/group"), f"root:x:0:\nclusterd:x:{USER}:\n".encode()
    yield archives.regular("etc/nsswitch.conf"), b"passwd: files\ngroup: files\nhosts: files dns\n"


def debian_members():
    """The files of the packages as this machine has them installed, in a system whose /lib is /usr/lib."""
    members = {}
    for name, target in (("lib", "usr/lib"), ("lib64", "usr/lib64"), ("bin", "usr/bin"), ("sbin", "usr/sbin")):
        members[name] = (archives.link(name, target), None)
    for package in closure():
        for path in output("dpkg", "-L", package).splitlines():
            if UNUSED.search(path) or path in ("/.", "/lib", "/lib64", "/bin", "/sbin"):
                continue
            name = re.sub(r"^/(lib|lib64|bin|sbin)/", r"/usr/\1/", path).lstrip("/")
            if not os.path.lexists(path):
                # Images of containers leave manuals out.
                continue
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                members[name] = (archives.link(name, os.readlink(path)), None)
            elif stat.S_ISDIR(status.st_mode):
                members[name] = (archives.directory(name, stat.S_IMODE(status.st_mode)), None)
            elif stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    members[name] = (archives.regular(name, stat.S_IMODE(status.st_mode)), file.read())
        # Where scanners of images without a package manager look.
        record = "\n".join(line for line in output("dpkg-query", "-s", package).splitlines()) + "\n"
        name = f"var/lib/dpkg/status.d/{package}"
        members[name] = (archives.regular(name), record.encode())
    for name in list(members):
        while "/" in name:
            name = name.rpartition("/")[0]
            members.setdefault(name, (archives.directory(name), None))
    # The second layer has its own, and folders of these packages that have other owners or are links to nowhere.
    for name in ("etc/passwd", "etc/group", "tmp", "var/run", "var/lock", "var/mail", "etc/resolv.conf", "etc/hosts"):
        members.pop(name, None)
    return members.values()


def closure():
    """The packages and all that they depend on, without what installs packages."""
    found, waiting = set(), list(PACKAGES)
    while waiting:
        package = waiting.pop()
        if package in found or package in ("debconf", "dpkg", "perl-base", "mawk", "gawk", "original-awk"):
            continue
        status = subprocess.run(
            ["dpkg-query", "-W", "-f=${Status}|${Pre-Depends}, ${Depends}", package], capture_output=True, text=True)
        installed, _, depends = status.stdout.partition("|")
        if status.returncode or "install ok installed" not in installed:
            if package in PACKAGES:
                raise PackageError(f"{package} is missing: apt install {package}")
            continue
        found.add(package)
        for group in depends.split(","):
            for choice in group.split("|"):
                name = re.sub(r"[:(].*", "", choice).strip()
                if name:
                    waiting.append(name)
    return sorted(found)
