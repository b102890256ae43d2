# SPDX-License-Identifier: MIT
"""Builds the wheel and the source archive (PEP 517, 621, 660) with Python alone, so that pip needs no network."""
import ast
import base64
import hashlib
import importlib.util
import io
import os
import tarfile
import time
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def project():
    """The tables of pyproject.toml, whose values are all strings and lists of strings: Python's literals too."""
    tables, table, held = {}, {}, ""
    with open(os.path.join(ROOT, "pyproject.toml"), encoding="utf-8") as file:
        for line in file:
            if not held and line.startswith("["):
                table = tables.setdefault(line.strip()[1:-1], {})
                continue
            held += line
            try:
                name, value = held.split("=", 1)
                table[name.strip()] = ast.literal_eval(value.strip())
            except (SyntaxError, ValueError):
                if held.strip():
                    continue
            held = ""
    return tables


def metadata():
    tables = project()
    table = tables["project"]
    lines = ["Metadata-Version: 2.4", f"Name: {table['name']}", f"Version: {table['version']}"]
    lines += [f"Summary: {table['description']}", f"Keywords: {','.join(table['keywords'])}"]
    lines += [f"License-Expression: {table['license']}", f"Requires-Python: {table['requires-python']}"]
    lines += [f"Classifier: {name}" for name in table["classifiers"]]
    for extra, packages in tables["project.optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {package}; extra == "{extra}"' for package in packages]
    lines.append("Description-Content-Type: text/markdown")
    with open(os.path.join(ROOT, table["readme"]), encoding="utf-8") as file:
        return table, "\n".join(lines) + "\n\n" + file.read()


def files(folder):
    for path, folders, names in os.walk(os.path.join(ROOT, folder)):
        folders[:] = sorted(set(folders) - {"__pycache__"})
        for name in sorted(names):
            yield os.path.join(path, name)


def wheel(directory, contents, tag="py3-none-any", epoch=315532800, licences=None, sboms=None, scripts=None, level=9):
    """Writes a wheel of `contents`, a mapping of paths to bytes, and returns its name.

    `epoch` is the members' time in seconds since 1970, by default the earliest that zip archives have.
    """
    table, text = metadata()
    base = f"{table['name']}-{table['version']}"
    folder = f"{base}.dist-info"
    contents = dict(contents)
    for path, data in (licences or {}).items():
        contents[f"{folder}/licenses/{path}"] = data
    names = "".join(f"License-File: {path}\n" for path in sorted(licences or {}))
    contents[f"{folder}/METADATA"] = text.replace("\nDescription-Content-Type:", f"\n{names}Description-Content-Type:", 1).encode()
    for path, data in (sboms or {}).items():
        contents[f"{folder}/sboms/{path}"] = data
    contents[f"{folder}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: clusterd_build\nRoot-Is-Purelib: {str(tag.endswith('any')).lower()}\nTag: {tag}\n"
    ).encode()
    if scripts:
        lines = [f"{name} = {function}\n" for name, function in sorted(scripts.items())]
        contents[f"{folder}/entry_points.txt"] = "".join(["[console_scripts]\n", *lines]).encode()
    record = ""
    name = f"{base}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for path, data in sorted(contents.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(data)}\n"
            archive.writestr(entry(path, epoch), data)
        archive.writestr(entry(f"{folder}/RECORD", epoch), record + f"{folder}/RECORD,,\n")
    return name


def entry(path, epoch):
    """An entry whose bytes are the same whenever it is built. Programs can be run."""
    info = zipfile.ZipInfo(path, max((1980, 1, 1, 0, 0, 0), time.gmtime(epoch)[:6]))
    mode = 0o100755 if "/_daemon/bin/" in path else 0o100644
    info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, mode << 16
    return info


def modules():
    """The package's files by their paths in a wheel."""
    contents = {}
    for path in files("src"):
        with open(path, "rb") as file:
            contents[os.path.relpath(path, os.path.join(ROOT, "src"))] = file.read()
    return {**contents, **map_files()}


def map_files():
    """The notebook's map, made of the map page beside this package; nothing if there is none, as in a source archive, which has it."""
    spec = importlib.util.spec_from_file_location("clusterd_bundle", os.path.join(ROOT, "src/clusterd/_bundle.py"))
    bundle = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bundle)
    web = os.path.join(ROOT, "../../web")
    if not os.path.exists(os.path.join(web, bundle.ENTRY)) or not os.path.isdir(bundle.LEAFLET):
        return {}
    script, style = bundle.build(web, bundle.LEAFLET)
    return {"clusterd/_static/map.js": script.encode(), "clusterd/_static/map.css": style.encode()}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return wheel(wheel_directory, modules())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return wheel(wheel_directory, {"clusterd.pth": os.path.join(ROOT, "src").encode() + b"\n"})


def build_sdist(sdist_directory, config_settings=None):
    table, text = metadata()
    base = f"{table['name']}-{table['version']}"
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo(base + "/PKG-INFO")
        info.size = len(text.encode())
        archive.addfile(info, io.BytesIO(text.encode()))
        for path in [os.path.join(ROOT, "pyproject.toml"), os.path.join(ROOT, "README.md"), *files("src"), *files("backend")]:
            archive.add(path, f"{base}/{os.path.relpath(path, ROOT)}", recursive=False)
        for path, data in map_files().items():
            info = tarfile.TarInfo(f"{base}/src/{path}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return base + ".tar.gz"
