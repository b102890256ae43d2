#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens the examples of Examples/web in a real browser and compares what they show with GetClusters.

    python3 web_examples.py maplibre|leaflet ADDRESS

ADDRESS is the daemon's, which has the source `cities` and `"origins": ["*"]`. The libraries come from this machine:
MapLibre from PyPI's wheel `maplibre`, Leaflet from Debian's libjs-leaflet. Exits with 77 if the library is not there.
"""
import http.server, importlib.util, json, os, sys, threading, urllib.parse, urllib.request

from devtools import Browser, Failure

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# Web GL without a graphics card.
FLAGS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def maplibre_files():
    found = importlib.util.find_spec("maplibre")
    folder = found and os.path.join(found.submodule_search_locations[0], "srcjs")
    if not folder or not os.path.exists(f"{folder}/maplibre-gl.js"):
        skip("PyPI's wheel maplibre is not installed")
    return folder, ["https://unpkg.com/maplibre-gl@5/dist/"]


def leaflet_files():
    folder = "/usr/share/javascript/leaflet"
    if not os.path.exists(f"{folder}/leaflet.js"):
        skip("libjs-leaflet is not installed")
    return folder, ["https://unpkg.com/leaflet@1.9.4/dist/"]


class Site:
    """A site of another origin than the daemon's: an example, with its library beside it."""

    def __init__(self, example, daemon, library, remote):
        with open(f"{ROOT}/Examples/web/{example}.html", encoding="utf-8") as file:
            text = file.read()
        for address in remote:
            text = text.replace(address, "/library/")
        # The map is a global, so that this test can ask it.
        page = text.replace("http://127.0.0.1:8080", daemon).replace("const map = ", "var map = ").encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                name = self.path.removeprefix("/library/")
                path = os.path.join(library, os.path.basename(name))
                body, kind = page, "text/html"
                if name != self.path and os.path.exists(path):
                    kind = "text/javascript" if path.endswith(".js") else "text/css"
                    with open(path, "rb") as file:
                        body = file.read()
                elif self.path != "/":
                    return self.send_error(404) if "favicon" not in self.path else self.send_response(204) or self.end_headers()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}/"


def clusters(daemon, box, zoom):
    query = urllib.parse.urlencode({"bbox": ",".join(map(str, box)), "zoom": zoom})
    with urllib.request.urlopen(f"{daemon}/sources/cities/clusters?{query}", timeout=30) as answer:
        return json.load(answer)["features"]


def name(properties):
    return f"cluster {properties['cluster_id']}" if properties.get("cluster") else properties["name"]


def expect(found, features, where):
    wanted = sorted(name(feature["properties"]) for feature in features)
    if not wanted or found != wanted:
        missing, extra = set(wanted) - set(found), set(found) - set(wanted)
        raise Failure(f"{where}: {len(found)} shown, {len(wanted)} expected; missing {sorted(missing)[:5]}, too many {sorted(extra)[:5]}")
    print(f"{where}: {len(found)} as GetClusters gives them", flush=True)


def maplibre(daemon, site, browser):
    """At each zoom the nodes in the tiles are those of GetClusters."""
    page = browser.page()
    page.open(site.address)
    page.wait("window.map?.loaded()", "the map", timeout=90)
    for zoom, centre in ((1, [10, 30]), (3, [10, 48]), (5, [100, 20])):
        page.evaluate(f"void map.jumpTo({{ center: {centre}, zoom: {zoom} }})")
        page.wait("map.loaded() && map.areTilesLoaded()", f"tiles of zoom {zoom}", timeout=90)
        box = page.evaluate("map.getBounds().toArray().flat()")
        # Tiles have whole coordinates, so a node near the edge can be on either side of it: those of the inner part
        # are to be found in the whole view, on both ways.
        margin = [(box[2] - box[0]) / 40, (box[3] - box[1]) / 40]
        inner = [max(-180, box[0] + margin[0]), box[1] + margin[1], min(180, box[2] - margin[0]), box[3] - margin[1]]
        whole = [max(-180, box[0]), box[1], min(180, box[2]), box[3]]
        nodes = page.evaluate("""map.querySourceFeatures("clusters", { sourceLayer: "cities" })
            .map((feature) => ({ geometry: feature.geometry, properties: feature.properties }))""")

        def inside(features, area):
            return {
                name(feature["properties"]) for feature in features
                if area[0] <= feature["geometry"]["coordinates"][0] <= area[2]
                and area[1] <= feature["geometry"]["coordinates"][1] <= area[3]}

        wanted = clusters(daemon, whole, zoom)
        missing = inside(wanted, inner) - inside(nodes, whole)
        extra = inside(nodes, inner) - inside(wanted, whole)
        found = inside(nodes, inner)
        if missing or extra or len(found) < 5:
            raise Failure(f"MapLibre at zoom {zoom}: {len(found)} found, missing {sorted(missing)[:5]}, too many {sorted(extra)[:5]}")
        print(f"MapLibre at zoom {zoom}: {len(found)} nodes as GetClusters gives them", flush=True)
    drawn = page.evaluate("map.queryRenderedFeatures({ layers: ['circles'] }).length")
    if not drawn:
        raise Failure("no circle is drawn")
    if page.problems:
        raise Failure(f"in the console: {page.problems[:3]}")


def leaflet(daemon, site, browser):
    """The map shows the clusters of one zoom less than its own."""
    page = browser.page()
    page.open(site.address)
    for zoom in (2, 4, 6):
        page.wait("Boolean(window.map?.getZoom)", "the map")
        page.evaluate(f"void map.setView([48, 10], {zoom}, {{ animate: false }})")
        box = page.evaluate("map.getBounds().toBBoxString().split(',').map(Number)")
        features = clusters(daemon, box, zoom - 1)
        shown = """(() => { const shown = []; map.eachLayer((layer) => layer.feature && shown.push(layer.feature.properties)); return shown; })()"""
        page.wait(f"{shown}.length === {len(features)}", f"{len(features)} markers at zoom {zoom}")
        expect(sorted(map(name, page.evaluate(shown))), features, f"Leaflet at zoom {zoom}")
    if page.problems:
        raise Failure(f"in the console: {page.problems[:3]}")


def main():
    example, daemon = sys.argv[1], sys.argv[2].rstrip("/")
    library, remote = {"maplibre": maplibre_files, "leaflet": leaflet_files}[example]()
    site = Site(example, daemon, library, remote)
    with Browser(*FLAGS) as browser:
        {"maplibre": maplibre, "leaflet": leaflet}[example](daemon, site, browser)


if __name__ == "__main__":
    main()
