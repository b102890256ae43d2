#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the recipes of docs/recipes.md on a real daemon: those for MapLibre and Leaflet in a browser, those for Python with the client.

    python3 recipes.py ADDRESS SOCKET [--pictures FOLDER] [RECIPE…]

The daemon has the source `places` as docs/recipes.md makes it, and `"origins": ["*"]`. With --pictures the recipes' pictures are
written too. A library that is not there is skipped, and said so. Exits with 1 and says why if a recipe fails.
"""
import argparse, json, os, re, subprocess, sys, threading, urllib.parse, urllib.request

from devtools import Browser, Failure
from web_examples import FLAGS, ROOT, load_server

SIZE = (560, 320)
LEAFLET = "(() => { const found = []; map.eachLayer((layer) => found.push(layer)); return found; })()"
MAPLIBRE = "map.getSource('{}')?.serialize().data.features"


def donuts(page, library, get):
    page.wait("document.querySelectorAll('.donut').length > 10", "rings")
    rings = page.evaluate("[...document.querySelectorAll('.donut')].map((ring) => [Number(ring.textContent), ring.style.background])")
    largest = max(rings)
    if largest[1].count("rgb") < 6:
        raise Failure(f"the ring of {largest[0]} points has no five colours: {largest[1]}")


def slider(page, library, get):
    number = ("[...layer.markers.values()].reduce((sum, marker) => sum + (marker.feature.properties.point_count ?? 1), 0)")
    page.wait(f"window.layer?.markers.size && {number}", "circles")

    def wait_for(year, first, last):
        view = page.evaluate("[map.getBounds().getWest(), map.getBounds().getSouth(), map.getBounds().getEast(), map.getBounds().getNorth()]")
        zoom = page.evaluate("map.getZoom()") - (1 if library == "leaflet" else 0)
        found = get("clusters", bbox=",".join(map(str, view)), zoom=int(zoom), window=f"time,{first},{last}")["features"]
        wanted = sum(feature["properties"].get("point_count", 1) for feature in found)
        page.wait(f"{number} === {wanted}", f"the {wanted} points of {year}")
        return wanted

    first = wait_for(2021, 1609459200000, 1640995200000)
    page.evaluate("(() => { const slider = document.querySelector('input[type=range]'); slider.value = 2023; slider.oninput(); })()")
    if wait_for(2023, 1672531200000, 1704067200000) == first:
        raise Failure("both years have as many points")


def top(page, library, get):
    view = "[map.getBounds().getWest(), map.getBounds().getSouth(), map.getBounds().getEast(), map.getBounds().getNorth()]"
    page.wait("document.querySelectorAll('ol li').length === 5", "five places")
    best = get("top", by="rating", limit=5, bbox=",".join(map(str, page.evaluate(view))))["features"]
    wanted = [f"{feature['properties']['name']}: {feature['properties']['rating']}" for feature in best]
    page.wait(f"JSON.stringify([...document.querySelectorAll('ol li')].map((item) => item.textContent)) === {json.dumps(json.dumps(wanted, ensure_ascii=False, separators=(',', ':')))}", f"the list {wanted}")
    page.wait(f"{LEAFLET}.filter((layer) => layer.feature).length > 10" if library == "leaflet" else "map.getLayer('clusterd-places-circles') && map.queryRenderedFeatures({ layers: ['clusterd-places-circles'] }).length > 10", "circles")


def selected(page, library, get):
    pinned = "[...(window.layer?.markers.values() ?? [])].filter(({ feature }) => feature.properties.pinned).map(({ feature }) => feature.id).join()"
    page.wait(f"{pinned} === '62'", "the pinned place")
    page.evaluate("void layer.restrict({ pin: [373] })")
    page.wait(f"{pinned} === '373'", "another one")
    page.evaluate("void layer.restrict({ pin: null })")
    page.wait(f"{pinned} === ''", "none")
    page.evaluate("void layer.restrict({ pin: [62] })")
    page.wait(f"{pinned} === '62'", "the first again")


def density(page, library, get):
    if library == "leaflet":
        page.wait(f"{LEAFLET}.filter((layer) => layer instanceof L.Rectangle).length > 50", "squares")
    else:
        page.wait("map.getLayer('density') && map.queryRenderedFeatures({ layers: ['density'] }).length > 50", "squares")


def categories(page, library, get):
    if library == "leaflet":
        found = "[...new Set([...document.querySelectorAll('.category div')].map((circle) => circle.style.background))]"
    else:
        found = f"[...new Set(({MAPLIBRE.format('kinds')} ?? []).map(({{ properties }}) => properties.partition))].filter(Boolean)"
    page.wait(f"{found}.length === 5", "circles of five kinds")


def spider(page, library, get):
    if library == "leaflet":
        page.wait(f"{LEAFLET}.some((layer) => layer.feature?.properties.spider)", "a cluster of one position")
        page.evaluate(f"void {LEAFLET}.find((layer) => layer.feature?.properties.spider).fire('click')")
        page.wait(f"{LEAFLET}.filter((layer) => layer instanceof L.CircleMarker).length > 1", "legs")
    else:
        found = "map.queryRenderedFeatures({ layers: ['clusterd-places-circles'] }).find(({ properties }) => properties.spider)"
        page.wait(f"map.getLayer('clusterd-places-circles') && Boolean({found})", "a cluster of one position")
        at = page.evaluate(f"(() => {{ const {{ x, y }} = map.project({found}.geometry.coordinates); return [x, y]; }})()")
        page.click(*at)
        page.wait("document.querySelectorAll('.leg').length > 1", "legs")


def hover(page, library, get):
    if library == "leaflet":
        largest = f"{LEAFLET}.filter((layer) => layer.feature?.properties.cluster).sort((one, other) => other.feature.properties.point_count - one.feature.properties.point_count)[0]"
        page.wait(f"Boolean({largest})", "circles")
        page.evaluate("new Promise((resolve) => setTimeout(resolve, 400))")
        at = page.evaluate(f"(() => {{ const {{ x, y }} = map.latLngToContainerPoint({largest}.getLatLng()); return [x, y]; }})()")
        page.hover(*at)
        page.wait("document.querySelector('path.leaflet-interactive, .leaflet-overlay-pane path')?.getAttribute('d')?.length > 20", "an area")
    else:
        largest = "map.queryRenderedFeatures({ layers: ['places-circles'] }).filter(({ properties }) => properties.cluster).sort((one, other) => other.properties.point_count - one.properties.point_count)[0]"
        page.wait(f"map.getLayer('places-circles') && Boolean({largest})", "circles")
        page.evaluate("new Promise((resolve) => setTimeout(resolve, 400))")
        at = page.evaluate(f"(() => {{ const {{ x, y }} = map.project({largest}.geometry.coordinates); return [x, y]; }})()")
        page.hover(at[0] + 40, at[1])
        page.hover(*at)
        page.wait("map.getSource('area').serialize().data.geometry?.type === 'Polygon'", "an area")


#: By recipe: what its page has to show, the library of its picture, and what its Python prints.
RECIPES = {
    "Donut clusters": (donuts, "leaflet", r"\[.*\] \{'\w+': '\d+ %'"),
    "Time slider": (slider, "leaflet", r"2019 \d+\n2020 \d+\n2021 \d+\n2022 \d+\n2023 \d+\n2024 \d+"),
    "Top list": (top, "leaflet", r"(\d\.?\d* .+ \[.*\]\n){5}"),
    "Selected marker": (selected, "leaflet", r"(\d \['.+'\]\n){4}"),
    "Density": (density, "maplibre", r"(\d+ points from .*\n){5}"),
    "Categories": (categories, "leaflet", r"((cafe|park|station|library|museum) \d+\n){5}"),
    "Spider": (spider, "leaflet", r"\[\('.+', \[.*\]\)"),
    "Hover areas": (hover, "leaflet", r"\d+ Polygon \[\["),
}


def blocks(text):
    """The code of each section, by its language: {section: {language: code}}."""
    found = {}
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        code = found.setdefault(section.split("\n")[0], {})
        for language, body in re.findall(r"^```(\w+(?: \w+)?)\n(.*?)^```$", section, flags=re.M | re.S):
            code[language] = body
    return found


def site(library, pages, daemon):
    """A server of pages, with what they load; None if the library is not there. A library that is missing is not fetched."""
    examples = load_server()

    class Handler(examples.Handler):
        def do_GET(self):
            if self.path.lstrip("/") not in pages:
                return super().do_GET() if "favicon" not in self.path else self.send_response(204) or self.end_headers()
            body = ("<!DOCTYPE html>\n" + pages[self.path.lstrip("/")]).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    examples.Handler = Handler
    try:
        server = examples.site([library], fetches=False)
    except examples.Missing as error:
        print(f"skipped: {error}", flush=True)
        return None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def page_of(code, shared, library, daemon):
    """A recipe's whole page; what the test asks for is a global."""
    script = code.get("js both", "") + code[f"js {library}"]
    text = shared[f"html {library}"].replace("// The recipe.\n", script).replace("http://127.0.0.1:8080", daemon)
    return re.sub(r"^const (map|layer) = ", r"const \1 = window.\1 = ", text, flags=re.M)


def run_python(name, code, shared, socket, pattern):
    environment = {**os.environ, "CLUSTERD_SOCKET": socket, "PYTHONPATH": f"{ROOT}/clients/python/src"}
    script = shared["python all"] + code["python"]
    result = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=300)
    if result.returncode or not re.search(pattern, result.stdout):
        raise Failure(f"{result.stderr.strip()[-500:]} printed {result.stdout[:300]!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("socket")
    parser.add_argument("--pictures")
    parser.add_argument("recipes", nargs="*")
    options = parser.parse_intermixed_args()
    daemon = options.address.rstrip("/")
    with open(f"{ROOT}/docs/recipes.md", encoding="utf-8") as file:
        sections = blocks(file.read())
    shared = sections["What all of them share"]
    missing = set(RECIPES) ^ (set(sections) - {"What all of them share"})
    if missing:
        sys.exit(f"FAILED: recipes without a test, or tests without a recipe: {missing}")

    def get(what, **parameters):
        with urllib.request.urlopen(f"{daemon}/sources/places/{what}?{urllib.parse.urlencode(parameters)}", timeout=120) as answer:
            return json.load(answer)

    chosen = [name for name in RECIPES if not options.recipes or name in options.recipes]
    failed = False
    sites = {library: site(library, {f"{name}.html".replace(" ", "-"): page_of(sections[name], shared, library, daemon) for name in chosen}, daemon)
             for library in ("leaflet", "maplibre")}
    with Browser(*FLAGS) as browser:
        for name in chosen:
            check, picture, pattern = RECIPES[name]
            for library, address in [*sites.items(), ("python", None)]:
                if library != "python" and not address:
                    continue
                try:
                    if library == "python":
                        run_python(name, sections[name], shared, options.socket, pattern)
                    else:
                        run_page(browser, f"{address}/{name.replace(' ', '-')}.html", daemon, check, library, get, options.pictures and picture == library and f"{options.pictures}/recipe-{name.lower().replace(' ', '-')}.png")
                    print(f"ok {name}: {library}", flush=True)
                except Exception as error:
                    failed = True
                    print(f"FAILED {name}: {library}: {str(error)[:600]}", flush=True)
        if options.pictures:
            draw_map_page(browser, daemon, options.pictures)
    sys.exit(1 if failed else 0)


def draw_map_page(browser, daemon, folder):
    """The picture of docs/map.md: the map page with its slider and its list."""
    page = browser.page(1100, 720)
    page.open(f"{daemon}/?source=places&colour=kind&window=time,1609459200000,1672531200000&top=rating#3/47/14")
    page.wait("document.querySelector('.chart .part path') && document.querySelector('.core.ring') && document.querySelector('.top-list li')", "slider, rings and list")
    page.evaluate("new Promise((resolve) => setTimeout(resolve, 2500))")
    page.screenshot(f"{folder}/map-page-slider.png")
    page.close()


def run_page(browser, address, daemon, check, library, get, picture):
    page = browser.page(*SIZE)
    try:
        page.open(address)
        page.wait("window.map?.loaded()" if library == "maplibre" else "window.map?.getZoom() > 0", "the map")
        check(page, library, get)
        if page.problems:
            raise Failure(f"in the console: {page.problems[:3]}")
        if picture:
            page.wait("document.getAnimations().length === 0", "everything is at rest")
            page.evaluate("new Promise((resolve) => setTimeout(resolve, 1500))")
            page.screenshot(picture)
    finally:
        page.close()


if __name__ == "__main__":
    main()
