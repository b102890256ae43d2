#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what scripts/package has made: contents, sums and sizes, and that wheel and tarball run from any folder.

    scripts/packaging/check.py FOLDER [--any-size]      --any-size is for programs with symbols for debuggers
"""
import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile

folder = os.path.abspath(sys.argv[1])
any_size = "--any-size" in sys.argv
failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)


def main():
    names = sorted(os.listdir(folder))
    version = next(name for name in names if name.endswith(".cdx.json"))[len("clusterd-"):-len(".cdx.json")]
    wheel = f"clusterd-{version}-py3-none-manylinux_2_36_x86_64.whl"
    tarball, image = f"clusterd-{version}-linux-x86_64.tar.gz", f"clusterd-{version}-oci-x86_64.tar"
    debs = [f"clusterd_{version}_amd64.deb", f"clusterd-feed_{version}_amd64.deb", f"python3-clusterd_{version}_all.deb"]
    expected = {wheel, tarball, image, f"clusterd-{version}.cdx.json", "SHA256SUMS", *([] if any_size else debs)}
    expect(set(names) == expected, f"the folder has {names}")
    sums = dict(reversed(line.split("  ")) for line in read("SHA256SUMS").decode().splitlines())
    expect(sums == {name: hashlib.sha256(read(name)).hexdigest() for name in names if name != "SHA256SUMS"}, "SHA256SUMS differs")
    for name, most in ((wheel, 25_000_000), (image, 40_000_000)):
        size = os.path.getsize(os.path.join(folder, name))
        expect(any_size or size <= most, f"{name} has {size:,} bytes")
    document = json.loads(read(f"clusterd-{version}.cdx.json"))
    with tempfile.TemporaryDirectory(prefix="clusterd check ") as work:
        check_wheel(os.path.join(folder, wheel), version, document, work)
        check_tarball(os.path.join(folder, tarball), f"clusterd-{version}-linux-x86_64", version, document, work)
    check_image(image)
    for failure in failures:
        print(f"check: {failure}", file=sys.stderr)
    sys.exit(1 if failures else 0)


def read(name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def check_wheel(path, version, document, work):
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        metadata = archive.read(f"clusterd-{version}.dist-info/METADATA").decode()
        expect(names == sorted(names[:-1]) + names[-1:], "the wheel's members are not sorted")
        expect(json.loads(archive.read(f"clusterd-{version}.dist-info/sboms/clusterd.cdx.json")) == document, "the wheel's SBOM differs")
    licences = [name.partition(".dist-info/licenses/")[2] for name in names if ".dist-info/licenses/" in name]
    check_licences(licences, document, "the wheel")
    for line in (f"Version: {version}", *(f"Provides-Extra: {extra}" for extra in ("arrow", "pandas", "geopandas", "polars", "notebook"))):
        expect(line in metadata.splitlines(), f"the wheel's metadata have no {line}")
    libraries = {name.rpartition("/")[2] for name in names if name.startswith("clusterd/_daemon/lib/")}
    expect(libraries == files_of(document), f"wheel and SBOM differ in {sorted(libraries ^ files_of(document))}")
    for name in ("clusterd/_static/map.js", "clusterd/_static/map.css"):
        expect(name in names, f"the wheel has no {name}: the notebook's map")
    target = os.path.join(work, "wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", target, path], check=True)
    for program in ("clusterd", "clusterctl"):
        said = run([os.path.join(target, "bin", program), "--version"], {"PYTHONPATH": target})
        expect(said.split()[:2] == [program, version], f"the wheel's {program} says {said}")


def check_licences(names, document, where):
    for component in document["components"]:
        expect(f"{component['name']}.txt" in names, f"{where} has no licence of {component['name']}")


def files_of(document):
    return {
        item["value"] for component in document["components"] for item in component.get("properties", [])
        if item["name"] == "clusterd:file"
    }


def check_tarball(path, top, version, document, work):
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        expect([member.name for member in members] == sorted(member.name for member in members), "the tarball's members are not sorted")
        expect({(member.uid, member.gid) for member in members} == {(0, 0)}, "the tarball's members do not belong to root")
        expect(len({member.mtime for member in members}) == 1, "the tarball's members have different times")
        archive.extractall(work)
    moved = os.path.join(work, "moved here")
    os.rename(os.path.join(work, top), moved)
    check_licences(os.listdir(f"{moved}/share/clusterd/licenses"), document, "the tarball")
    expect(set(os.listdir(f"{moved}/lib")) == files_of(document), "the tarball's libraries are not the SBOM's")
    subprocess.run(["chmod", "-R", "a-w", moved], check=True)
    try:
        check_programs(moved, work)
    finally:
        subprocess.run(["chmod", "-R", "u+w", moved], check=True)


def check_programs(moved, work):
    link, home, temporary = (os.path.join(work, name) for name in ("link", "home", "temporary"))
    os.symlink(f"{moved}/bin/clusterctl", link)
    os.mkdir(home)
    # A socket's path has to be short.
    temporary = tempfile.mkdtemp(prefix="ck")
    environment = {"HOME": home, "TMPDIR": temporary}
    files = [f"bin/{name}" for name in os.listdir(f"{moved}/bin")] + [f"lib/{name}" for name in os.listdir(f"{moved}/lib")]
    for file in files:
        # ICU's data have no code and no addresses.
        if "libicudata" not in file and not any_size:
            headers = run(["readelf", "-lW", f"{moved}/{file}"], {})
            expect("GNU_RELRO" in headers, f"{file} has no segment that becomes read-only")
    for program in ("clusterd", "clusterctl"):
        hashes = os.path.join(work, "hashes")
        run(["objcopy", "-O", "binary", "--only-section=.swift_modhash", f"{moved}/bin/{program}", hashes], {})
        with open(hashes, "rb") as file:
            expect(not any(file.read()), f"{program} has hashes that depend on the building machine's folder")
    libraries = run(["ldd", f"{moved}/bin/clusterctl"], {})
    for line in libraries.splitlines():
        name, _, found = line.strip().partition(" => ")
        if found and not re.match(r"lib(c|m|dl|rt|pthread|util|resolv)\.so", name):
            expect(found.startswith(moved), f"{name} is found at {found}")
    serving = subprocess.Popen([link, "serve", "--no-open"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment, text=True)
    try:
        address = next(line for line in serving.stdout if line.startswith("Map: "))[len("Map: "):].split("?")[0]
        for name in ("", "assets/leaflet/leaflet.js", "assets/leaflet/leaflet.css", "sources/cities/tiles/0/0/0.mvt"):
            with urllib.request.urlopen(address + name) as answer:
                expect(len(answer.read()) > 500, f"/{name} is short")
        socket = next(os.path.join(path, "clusterd.sock") for path, _, names in os.walk(temporary) if "clusterd.sock" in names)
        number = run([link, "--socket", socket, "eval", '["number-format",1234567.5,{"locale":"de"}]'], environment)
        expect(number == '"1.234.567,5"', f"a number of German is {number}")
        picture = os.path.join(home, "cities.png")
        run([link, "--socket", socket, "render", "cities", "-o", picture], environment)
        expect(os.path.getsize(picture) > 10_000, "the picture is empty")
    finally:
        serving.send_signal(signal.SIGINT)
        expect(serving.wait(20) == 0, "serve did not end well")
    expect(os.listdir(temporary) == [], f"serve has left {os.listdir(temporary)}")
    shutil.rmtree(temporary, ignore_errors=True)


def check_image(name):
    with tarfile.open(os.path.join(folder, name)) as archive:
        contents = {member.name: archive.extractfile(member).read() for member in archive.getmembers() if member.isfile()}
    for path, data in contents.items():
        if path.startswith("blobs/"):
            expect(hashlib.sha256(data).hexdigest() == os.path.basename(path), f"{path} has another digest")

    def blob(descriptor):
        data = contents["blobs/sha256/" + descriptor["digest"].partition(":")[2]]
        expect(len(data) == descriptor["size"], f"{descriptor['digest']} has another size")
        return data

    manifest = json.loads(blob(json.loads(contents["index.json"])["manifests"][0]))
    settings = json.loads(blob(manifest["config"]))["config"]
    expect(settings["User"].split(":")[0] not in ("", "0", "root"), "the image runs as root")
    files = set()
    for layer in manifest["layers"]:
        with tarfile.open(fileobj=io.BytesIO(blob(layer))) as archive:
            files.update(archive.getnames())
    for path in ("usr/bin/clusterd", "opt/clusterd/bin/clusterd", "usr/lib/x86_64-linux-gnu/libc.so.6", "usr/lib64/ld-linux-x86-64.so.2"):
        expect(path in files, f"the image has no {path}")


def run(words, environment):
    """A program's output; its environment has nothing else."""
    done = subprocess.run(words, env={"PATH": "/usr/bin:/bin", **environment}, capture_output=True, text=True)
    expect(done.returncode == 0, f"{words[0]} {words[1]} has failed: {done.stderr}")
    return done.stdout.strip()


main()
