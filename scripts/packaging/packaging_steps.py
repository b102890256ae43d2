# SPDX-License-Identifier: MIT
"""The steps of scripts/package, and what they share."""
import hashlib
import os
import re
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = {
    "patchelf": "patchelf", "strip": "binutils", "objcopy": "binutils", "readelf": "binutils", "icupkg": "icu-devtools",
    "gcc": "g++", "dpkg-deb": "dpkg", "dpkg-shlibdeps": "dpkg-dev", "make": "make", "pkg-config": "pkg-config",
}


class PackageError(Exception):
    """Why nothing was packed, for a person."""


def run(target, programs):
    """Builds the files of a release in a new folder, which then replaces `target`."""
    for tool, package in TOOLS.items():
        if shutil.which(tool) is None:
            raise PackageError(f"{tool} is missing: apt install {package}, or scripts/install-dependencies")
    import archives
    import bundle
    import image
    import sbom
    import wheel

    version = version_of_sources()
    check_target(target)
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct"))
    os.environ["SOURCE_DATE_EPOCH"] = str(epoch)
    os.umask(0o022)
    with tempfile.TemporaryDirectory(prefix="clusterd-package-") as work:
        results = os.path.join(work, "results")
        os.mkdir(results)
        is_release = programs is None
        if is_release:
            command("scripts/package-deb", results)
            programs = os.path.join(ROOT, ".build/package/release")
        else:
            archives.level = 1
        check_version(programs, version)
        name = f"clusterd-{version}-linux-x86_64"
        tree = os.path.join(work, name)
        libraries = bundle.build(tree, programs, work)
        if is_release:
            bundle.check_paths(tree)
        document = sbom.document(version, epoch, libraries)
        sbom.write_licences(os.path.join(tree, "share/clusterd/licenses"), libraries)
        sbom.write(document, os.path.join(results, f"clusterd-{version}.cdx.json"))
        tarball = os.path.join(results, f"{name}.tar.gz")
        archives.write_tar_gz(tarball, archives.tree_members(tree, name), epoch)
        wheel.write(results, epoch, tree, document)
        image.write(os.path.join(results, f"clusterd-{version}-oci-x86_64.tar"), version, epoch, tree)
        sums = "".join(f"{digest(os.path.join(results, file))}  {file}\n" for file in sorted(os.listdir(results)))
        with open(os.path.join(results, "SHA256SUMS"), "w", encoding="ascii") as file:
            file.write(sums)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(results, target)
    for file in sorted(os.listdir(target)):
        print(f"{os.path.getsize(os.path.join(target, file)):>12,}  {os.path.join(os.path.relpath(target), file)}")


def version_of_sources():
    with open(os.path.join(ROOT, "Sources/ClusterProtocol/Release.swift"), encoding="utf-8") as file:
        return re.search(r'static let version = "(.+)"', file.read()).group(1)


def check_target(target):
    """A folder with anything else is left alone."""
    if not os.path.exists(target):
        return
    ours = re.compile(r"SHA256SUMS|(python3-)?clusterd[-_]\d.*\.(whl|tar\.gz|deb|tar|cdx\.json)")
    others = [name for name in sorted(os.listdir(target)) if not ours.fullmatch(name)] if os.path.isdir(target) else [target]
    if others:
        raise PackageError(f"{target} has something else, such as {others[0]}: name an empty folder")


def check_version(programs, version):
    for program in ("clusterd", "clusterctl"):
        path = os.path.join(programs, program)
        if not os.access(path, os.X_OK):
            raise PackageError(f"{path} is missing: build it first")
        said = output(path, "--version").split()[1]
        if said != version:
            raise PackageError(f"{path} is version {said}, the sources are {version}: build it again")


def command(*words, **arguments):
    """Runs a program of the source tree or the system, which says itself what fails."""
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.DEVNULL, **arguments)
    if done.returncode:
        raise PackageError(f"{words[0]} has failed with status {done.returncode}")


def output(*words):
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise PackageError(f"{words[0]} has failed with status {done.returncode}")
    return done.stdout.strip()


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()
