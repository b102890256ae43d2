# SPDX-License-Identifier: MIT
"""What the bundle consists of: a CycloneDX document, and the licences."""
import json
import os
import re
import subprocess
import uuid
from datetime import datetime, timezone

from packaging_steps import ROOT, PackageError, output

#: The licence of a library by the name of its source package, as its file `copyright` says.
LICENCES = {
    "brotli": "MIT", "cairo": "LGPL-2.1-only OR MPL-1.1", "expat": "MIT", "fontconfig": "HPND", "fonts-dejavu": "Bitstream-Vera",
    "freetype": "FTL OR GPL-2.0-or-later", "fribidi": "LGPL-2.1-or-later", "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glib2.0": "LGPL-2.1-or-later", "graphite2": "LGPL-2.1-or-later OR MPL-2.0 OR GPL-2.0-or-later", "harfbuzz": "MIT",
    "icu": "ICU", "leaflet": "BSD-2-Clause", "libbsd": "BSD-3-Clause", "libdatrie": "LGPL-2.1-or-later",
    "libdeflate": "MIT", "libffi": "MIT", "libmd": "BSD-3-Clause", "libpng1.6": "libpng-2.0", "libsodium": "ISC", "libselinux": "libselinux-1.0",
    "libthai": "LGPL-2.1-or-later", "libuv1": "MIT", "libx11": "MIT", "libxau": "MIT", "libxcb": "MIT", "libxdmcp": "MIT",
    "libxext": "MIT", "nghttp2": "MIT", "node-undici": "MIT", "libxrender": "MIT", "pango1.0": "LGPL-2.0-or-later", "pcre2": "BSD-3-Clause", "pixman": "MIT",
    "simdjson": "Apache-2.0", "util-linux": "LGPL-2.1-or-later", "wslay": "MIT", "zlib": "Zlib",
}
COMMON = "/usr/share/common-licenses"
WORLD_LICENCE = """Natural Earth (https://www.naturalearthdata.com/) is in the public domain.

"All versions of Natural Earth raster + vector map data found on this website are in the public domain. You may use the maps
in any manner, including modifying the content and design, electronic dissemination, and offset printing. The primary authors,
Tom Patterson and Nathaniel Vaughn Kelso, and all other contributors renounce all financial claim to the maps and invites you
to use them for personal, educational, and commercial purposes."
"""


def packages(libraries):
    """The Debian packages of the bundle with the files that it has of each."""
    found = {}
    for library in libraries:
        found.setdefault(package_of(library.path), []).append(library.file)
    # Compiled into clusterd from the package's sources.
    found["node-llhttp"] = []
    found["libjs-leaflet"] = []
    found["fonts-dejavu-core"] = []
    return found


def package_of(path):
    for name in (path, path.removeprefix("/usr")):
        done = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.splitlines()[0].split(":")[0]
    # Of a development toolchain: its runtime's libraries.
    if "/swift/" in path:
        return "swift-runtime"
    raise PackageError(f"{path} belongs to no package, so its licence is not known")


def document(version, epoch, libraries):
    components = []
    swift_files = []
    for package, files in sorted(packages(libraries).items()):
        if package == "swift-runtime":
            swift_files = files
            continue
        component_version, source = output(
            "dpkg-query", "-W", "-f=${Version} ${source:Package}", package).split("\n")[0].split(" ")
        if source not in LICENCES:
            raise PackageError(f"the licence of {source} is not in scripts/packaging/sbom.py: add it")
        purl = f"pkg:deb/debian/{package}@{component_version.replace('+', '%2B').replace('~', '~')}?arch=amd64&distro=debian-12"
        components.append(component(package, component_version, LICENCES[source], purl, files))
    swift = re.search(r"Swift version (\S+)", output("swift", "--version")).group(1)
    components.append(
        component(
            "swift-runtime", swift, "Apache-2.0 WITH Swift-exception", f"pkg:github/swiftlang/swift@swift-{swift}-RELEASE", swift_files))
    components.append(component("natural-earth", "5.1.1", None, "pkg:generic/natural-earth@5.1.1", []))
    identity = f"https://clusterd.invalid/{version}/{epoch}/" + ",".join(c["purl"] for c in components)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, identity)}", "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application", "bom-ref": f"pkg:pypi/clusterd@{version}", "name": "clusterd", "version": version,
                "licenses": [{"license": {"id": "MIT"}}], "purl": f"pkg:pypi/clusterd@{version}",
            },
        },
        "components": components,
        "dependencies": [
            {"ref": f"pkg:pypi/clusterd@{version}", "dependsOn": [c["bom-ref"] for c in components]},
            *({"ref": c["bom-ref"], "dependsOn": []} for c in components),
        ],
    }


def component(name, version, licence, purl, files):
    if licence is None:
        licences = [{"license": {"name": "Public domain"}}]
    elif " " in licence:
        licences = [{"expression": licence}]
    else:
        licences = [{"license": {"id": licence}}]
    found = {
        "type": "data" if licence is None else "library", "bom-ref": purl, "name": name, "version": version, "licenses": licences,
        "purl": purl,
    }
    if files:
        found["properties"] = [{"name": "clusterd:file", "value": file} for file in sorted(files)]
    return found


def write(document, path):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1, ensure_ascii=False)
        file.write("\n")


def write_licences(folder, libraries):
    """A text for each component, named after it, the licences that these texts refer to, and the project's own."""
    os.makedirs(folder)
    texts = {"clusterd.txt": read(os.path.join(ROOT, "LICENSE")), "natural-earth.txt": WORLD_LICENCE}
    swift = os.path.realpath(output("sh", "-c", "command -v swiftc"))
    texts["swift-runtime.txt"] = read(os.path.join(os.path.dirname(swift), "../share/swift/LICENSE.txt"))
    for package in packages(libraries):
        if package == "swift-runtime":
            continue
        text = read(f"/usr/share/doc/{package}/copyright")
        texts[f"{package}.txt"] = text
        for name in os.listdir(COMMON):
            if re.search(rf"{COMMON}/{re.escape(name)}(?![\w-]|\.\d)", text):
                texts[f"common-licenses/{name}.txt"] = read(os.path.join(COMMON, name))
    for name, text in texts.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        raise PackageError(f"a licence is missing: {error}") from None
