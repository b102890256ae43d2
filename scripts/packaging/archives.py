# SPDX-License-Identifier: MIT
"""Archives whose bytes depend on their content only: members are sorted, belong to root and have one time."""
import gzip
import io
import os
import stat
import tarfile

#: How much time gzip and zip take, from 1 to 9.
level = 9


def tree_members(folder, prefix):
    """Yields (tar member, content) of a folder's files, links and folders."""
    yield directory(prefix), None
    for path, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(folders + files):
            full = os.path.join(path, name)
            member = f"{prefix}/{os.path.relpath(full, folder)}"
            if os.path.islink(full):
                yield link(member, os.readlink(full)), None
            elif os.path.isdir(full):
                yield directory(member), None
            else:
                with open(full, "rb") as file:
                    content = file.read()
                executable = os.stat(full).st_mode & stat.S_IXUSR
                yield regular(member, 0o755 if executable else 0o644), content


def directory(name, mode=0o755, owner=0):
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.uid, info.gid = tarfile.DIRTYPE, mode, owner, owner
    return info


def regular(name, mode=0o644):
    info = tarfile.TarInfo(name)
    info.mode = mode
    return info


def link(name, target):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = tarfile.SYMTYPE, target, 0o777
    return info


def tar_bytes(members, epoch):
    """A tar archive of (member, content), sorted by name."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for info, content in sorted(members, key=lambda pair: pair[0].name):
            info.mtime, info.uname, info.gname = epoch, "", ""
            if info.uid == 0:
                info.uname = info.gname = "root"
            info.size = len(content or b"")
            archive.addfile(info, io.BytesIO(content or b""))
    return raw.getvalue()


def gzipped(data):
    return gzip.compress(data, compresslevel=level, mtime=0)


def write_tar_gz(path, members, epoch):
    with open(path, "wb") as file:
        file.write(gzipped(tar_bytes(members, epoch)))
