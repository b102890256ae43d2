# SPDX-License-Identifier: MIT
"""The notebook's map as one module and one style sheet, made of the map page's own modules and Leaflet.

The wheel has what this makes; beside the sources of the daemon it is made when it is first needed.
"""
from __future__ import annotations

import os
import re
from typing import Dict, List, Tuple

ENTRY = "widget.js"
_IMPORT = re.compile(r'^import (?:\* as (\w+)|\{([^}]*)\}) from "(\.[^"]*)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.MULTILINE)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")


def build(web: str, leaflet: str) -> Tuple[str, str]:
    """The module and the style sheet, from the folder of the page's files and that of Leaflet."""
    library = next(name for name in ("leaflet.min.js", "leaflet.js") if os.path.exists(os.path.join(leaflet, name)))
    return _script(web, _read(leaflet, library)), _style(web, _read(leaflet, "leaflet.css"))


def _read(folder: str, name: str) -> str:
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def _script(web: str, leaflet: str) -> str:
    """The modules in the order in which they need each other, each in a function of its own."""
    numbers: Dict[str, int] = {}
    parts: List[str] = []

    def add(path: str) -> int:
        if path in numbers:
            return numbers[path]
        text = _read(web, path)
        folder = os.path.dirname(path)

        def imported(match: "re.Match[str]") -> str:
            whole, names, target = match.groups()
            number = add(os.path.normpath(os.path.join(folder, target)))
            return f"const {whole or '{' + names.replace(' as ', ': ') + '}'} = m{number};\n"

        text = _IMPORT.sub(imported, text)
        names = _EXPORT.findall(text)
        text = re.sub(r"^export (?=(?:async )?(?:function|class|const) )", "", text, flags=re.MULTILINE)
        text = text.replace("export default {", "const exported = {")
        if re.search(r"^(import|export)\b", text, re.MULTILINE):
            raise ValueError(f"{path} imports or exports in a way that the bundle does not know")
        result = "exported" if path == ENTRY else "{ " + ", ".join(names) + " }"
        number = numbers[path] = len(numbers)
        parts.append(f"// {path}\nconst m{number} = (() => {{\n{text}return {result};\n}})();\n")
        return number

    entry = add(ENTRY)
    # Leaflet puts itself into the window, where the notebook may have another one.
    library = (
        "const L = (() => { const exports = {}, module = { exports };\n" + re.sub(r"^//# sourceMappingURL.*$", "", leaflet, flags=re.MULTILINE)
        + "\nreturn module.exports.noConflict ? module.exports.noConflict() : module.exports; })();\n"
    )
    return library + "".join(parts) + f"export default m{entry};\n"


def _style(web: str, leaflet: str) -> str:
    """The page's colours and the rules for its map, which hold inside the widget only."""
    page = _read(web, "style.css")
    light = re.search(r"^:root \{(.*?)^\}", page, re.MULTILINE | re.DOTALL)
    dark = re.search(r'^:root\[data-theme="dark"\] \{(.*?)^\}', page, re.MULTILINE | re.DOTALL)
    if light is None or dark is None:
        raise ValueError("style.css has no colours")
    colours = (
        f".clusterd-map {{{light[1]}}}\n"
        f'@media (prefers-color-scheme: dark) {{ .clusterd-map:not([data-theme="light"]) {{{dark[1]}}} }}\n'
        f'.clusterd-map[data-theme="dark"] {{{dark[1]}}}\n'
    )
    return colours + "".join(_inside(text) for text in (leaflet, _read(web, "map.css"), _read(web, "widget.css")))


def _inside(style: str) -> str:
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
    rules = []
    for selectors, body in _RULE.findall(style):
        # Pictures of Leaflet's controls, which this map does not have, would be loaded from elsewhere.
        if "url(" in body:
            continue
        inside = ", ".join(f".clusterd-map {selector.strip()}" for selector in selectors.split(","))
        rules.append(f"{inside} {{{body}}}\n")
    return "".join(rules)


def files() -> Tuple[str, str]:
    """The module and the style sheet."""
    here = os.path.dirname(os.path.abspath(__file__))
    static = os.path.join(here, "_static")
    if os.path.exists(os.path.join(static, "map.js")):
        return _read(static, "map.js"), _read(static, "map.css")
    web = os.path.join(here, "../../../../web")
    if not os.path.exists(os.path.join(web, ENTRY)):
        raise ImportError("this copy of the package has no map: install clusterd's wheel, or from its source tree")
    return build(web, LEAFLET)


#: Debian's libjs-leaflet.
LEAFLET = "/usr/share/javascript/leaflet"
