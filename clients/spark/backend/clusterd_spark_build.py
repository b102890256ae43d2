# SPDX-License-Identifier: MIT
"""Builds the wheel and the source archive (PEP 517, 621, 660) with Python alone, so that pip needs no network."""
import base64
import hashlib
import os
import re
import tarfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAME, FOLDER, TAG = "clusterd-spark", "clusterd_spark", "py3-none-any"


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def version():
    return re.search(r'^version = "(.+)"', read("pyproject.toml"), re.MULTILINE).group(1)


def metadata():
    def value(name):
        return re.search(rf'^{name} = "(.+)"', read("pyproject.toml"), re.MULTILINE).group(1)

    return (
        f"Metadata-Version: 2.4\nName: {NAME}\nVersion: {version()}\nSummary: {value('description')}\n"
        f"License-Expression: {value('license')}\nRequires-Python: {value('requires-python')}\n"
        'Provides-Extra: spark\nRequires-Dist: pyspark<5,>=4; extra == "spark"\n'
        f"Description-Content-Type: text/markdown\n\n{read('README.md')}")


def modules():
    folder = os.path.join(ROOT, "src", FOLDER)
    for name in sorted(os.listdir(folder)):
        if name.endswith((".py", ".typed")):
            yield f"{FOLDER}/{name}", read(f"src/{FOLDER}/{name}")


def wheel(directory, contents):
    base = f"{FOLDER}-{version()}"
    contents = dict(contents)
    contents[f"{base}.dist-info/METADATA"] = metadata()
    contents[f"{base}.dist-info/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: clusterd_spark_build\nRoot-Is-Purelib: true\nTag: {TAG}\n"
    record = ""
    name = f"{base}-{TAG}.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in sorted(contents.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(text.encode())}\n"
            archive.writestr(zipfile.ZipInfo(path), text)
        archive.writestr(zipfile.ZipInfo(f"{base}.dist-info/RECORD"), f"{record}{base}.dist-info/RECORD,,\n")
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return wheel(wheel_directory, modules())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return wheel(wheel_directory, {f"{FOLDER}.pth": os.path.join(ROOT, "src") + "\n"})


def build_sdist(sdist_directory, config_settings=None):
    base = f"{FOLDER}-{version()}"
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        information = os.path.join(sdist_directory, "PKG-INFO")
        with open(information, "w", encoding="utf-8") as file:
            file.write(metadata())
        archive.add(information, f"{base}/PKG-INFO")
        os.remove(information)
        paths = ["pyproject.toml", "README.md", "backend/clusterd_spark_build.py", *(f"src/{path}" for path, _ in modules())]
        for path in paths:
            archive.add(os.path.join(ROOT, path), f"{base}/{path}")
    return base + ".tar.gz"
