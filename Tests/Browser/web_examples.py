#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens the examples of Examples/web in a real browser and compares what they show with GetClusters.

    python3 web_examples.py maplibre|leaflet|openlayers|deckgl|pmtiles ADDRESS

ADDRESS is the daemon's, which has the source `cities`, its archive `cities.pmtiles` and `"origins": ["*"]`. The libraries come from
this machine: Leaflet from Debian's libjs-leaflet, the others from PyPI's wheels `maplibre`, `openlayers` and `pydeck`, which scripts/test puts into
.build/test-python. Exits with 77 if the library is not there.
"""
import http.server, importlib.util, json, math, os, re, sys, threading, urllib.parse, urllib.request

from devtools import Browser, Failure

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.append(f"{ROOT}/.build/test-python")
# Web GL without a graphics card.
FLAGS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def wheel(name, path):
    """The folder of a file of a wheel."""
    found = importlib.util.find_spec(name)
    file = found and os.path.join(found.submodule_search_locations[0], path)
    if not file or not os.path.exists(file):
        skip(f"PyPI's wheel {name} is not installed")
    return os.path.dirname(file)


def maplibre_files():
    return wheel("maplibre", "srcjs/maplibre-gl.js"), ["https://unpkg.com/maplibre-gl@5/dist/"], {}


def leaflet_files():
    folder = "/usr/share/javascript/leaflet"
    if not os.path.exists(f"{folder}/leaflet.js"):
        skip("libjs-leaflet is not installed")
    return folder, ["https://unpkg.com/leaflet@1.9.4/dist/"], {}


def deckgl_files():
    return wheel("pydeck", "nbextension/static/index.js"), ["https://unpkg.com/deck.gl@9/"], {"dist.min.js": "index.js"}


def openlayers_files():
    """The wheel has OpenLayers within a larger bundle that keeps its classes to itself: they are found by what is written
    around them, and published as OpenLayers' own bundle does. It makes views take degrees (useGeographic)."""
    folder = wheel("openlayers", "js/openlayers.standalone.js")
    with open(f"{folder}/openlayers.standalone.js", encoding="utf-8") as file:
        text = file.read()

    def find(pattern):
        found = re.search(pattern, text) or skip(f"PyPI's wheel openlayers has no {pattern}")
        return found.group(1)

    styles = ",".join(sorted(set(re.findall(r"new (\w+)\(\{image:", text))))
    types = {
        "Map": r"new (\w+)\(\{target:\w,view:", "View": r"MVT:\w+,View:(\w+)", "layer": r"VectorTileLayer:(\w+)",
        "source": r"VectorTileSource:(\w+)", "MVT": r"MVT:(\w+)", "createXYZ": r"tileGrid=\w\.tileGrid\|\|(\w+)\(",
        "Text": r"new (\w+)\(\{backgroundFill", "Fill": r"fill:\w\?new (\w+)\(\{color", "Circle": r"new (\w+)\(\{radius:",
    }
    types = {name: find(pattern) for name, pattern in types.items()}
    published = f"""
        const ownStyle = [{styles}].find((type) => type.prototype.getImage && type.prototype.getText);
        window.ol = {{
            Map: {types["Map"]}, View: {types["View"]}, layer: {{ VectorTile: {types["layer"]} }},
            source: {{ VectorTile: {types["source"]} }}, format: {{ MVT: {types["MVT"]} }}, tilegrid: {{ createXYZ: {types["createXYZ"]} }},
            style: {{ Style: ownStyle, Text: {types["Text"]}, Fill: {types["Fill"]}, Circle: {types["Circle"]} }},
            proj: {{ fromLonLat: (position) => position }},
        }};"""
    end = text.rindex("})();")
    return folder, ["https://unpkg.com/ol@10/dist/", "https://unpkg.com/ol@10/"], {"ol.js": text[:end] + published + text[end:], "ol.css": "openlayers.standalone.css"}


# A reader of tiles of points for deck.gl: their positions are parts of the tile.
TILE_LOADER = """{
    id: "mvt", name: "tiles of points", module: "test", version: "1", extensions: ["mvt"], mimeTypes: ["application/vnd.mapbox-vector-tile"],
    options: {}, parse: async (buffer) => {
        const messages = (bytes) => {
            const fields = [];
            let at = 0;
            const number = () => { let value = 0, scale = 1; for (;;) { const byte = bytes[at++]; value += (byte & 127) * scale; scale *= 128; if (byte < 128) return value; } };
            while (at < bytes.length) {
                const tag = number(), kind = tag & 7, field = { id: tag >>> 3 };
                if (kind === 0) field.value = number();
                else if (kind === 1) { field.value = new DataView(bytes.buffer, bytes.byteOffset + at).getFloat64(0, true); at += 8; }
                else { const count = number(); field.value = bytes.subarray(at, at + count); at += count; }
                fields.push(field);
            }
            return fields;
        };
        const numbers = (bytes) => {
            const list = [];
            for (let at = 0; at < bytes.length;) { let value = 0, scale = 1, byte; do { byte = bytes[at++]; value += (byte & 127) * scale; scale *= 128; } while (byte > 127); list.push(value); }
            return list;
        };
        const text = (bytes) => new TextDecoder().decode(bytes);
        const signed = (value) => (value % 2 ? -(value + 1) / 2 : value / 2);
        const property = ({ id, value }) => (id === 1 ? text(value) : id === 6 ? signed(value) : id === 7 ? value === 1 : value);
        return messages(new Uint8Array(buffer)).filter(({ id }) => id === 3).flatMap(({ value }) => {
            const layer = messages(value);
            const all = (number) => layer.filter(({ id }) => id === number).map((field) => field.value);
            const keys = all(3).map(text), values = all(4).map((value) => property(messages(value)[0])), extent = all(5)[0] ?? 4096;
            return all(2).map((value) => {
                const fields = Object.fromEntries(messages(value).map(({ id, value }) => [id, value]));
                const tags = numbers(fields[2] ?? new Uint8Array()), [, x, y] = numbers(fields[4]), properties = {};
                for (let place = 0; place < tags.length; place += 2) properties[keys[tags[place]]] = values[tags[place + 1]];
                return { type: "Feature", geometry: { type: "Point", coordinates: [signed(x) / extent, signed(y) / extent] }, properties };
            });
        });
    },
}"""


class Site:
    """A site of another origin than the daemon's: an example, with its library beside it."""

    def __init__(self, example, daemon, library, remote, files):
        """`files`: texts or names of files that the library's files have on this machine."""
        with open(f"{ROOT}/Examples/web/{example}.html", encoding="utf-8") as file:
            text = file.read()
        for address in remote:
            text = text.replace(address, "/library/")
        # The map is a global, so that this test can ask it.
        text = text.replace("http://127.0.0.1:8080", daemon).replace("const map = ", "var map = ")
        # What it reads tiles with would come from the network.
        text = text.replace("new deck.MVTLayer({", f"new deck.MVTLayer({{ binary: false, loaders: [{TILE_LOADER}],")
        page = text.replace("new ol.Map(", "var map = new ol.Map(").replace("new deck.Deck(", "var map = new deck.Deck(").encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                name = self.path.removeprefix("/library/")
                own = files.get(os.path.basename(name), os.path.basename(name))
                path = os.path.join(library, own)
                body, kind = page, "text/html"
                if name != self.path and (len(own) > 1000 or os.path.exists(path)):
                    kind = "text/javascript" if name.endswith(".js") else "text/css"
                    body = own.encode() if len(own) > 1000 else open(path, "rb").read()
                elif self.path == "/pmtiles.js":
                    kind = "text/javascript"
                    with open(f"{ROOT}/Examples/web/pmtiles.js", "rb") as file:
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


def compare(library, daemon, zoom, box, nodes):
    """The nodes that a library has read from tiles are those of GetClusters in a view."""
    # Tiles have whole coordinates, so a node near the edge can be on either side of it: those of the inner part
    # are to be found in the whole view, on both ways.
    margin = [(box[2] - box[0]) / 40, (box[3] - box[1]) / 40]
    inner = [max(-180, box[0] + margin[0]), box[1] + margin[1], min(180, box[2] - margin[0]), box[3] - margin[1]]
    whole = [max(-180, box[0]), box[1], min(180, box[2]), box[3]]

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
        raise Failure(f"{library} at zoom {zoom}: {len(found)} found, missing {sorted(missing)[:5]}, too many {sorted(extra)[:5]}")
    print(f"{library} at zoom {zoom}: {len(found)} nodes as GetClusters gives them", flush=True)


def maplibre(daemon, site, browser):
    """At each zoom the nodes in the tiles are those of GetClusters."""
    page = browser.page()
    page.open(site.address)
    page.wait("window.map?.loaded()", "the map", timeout=90)
    for zoom, centre in ((1, [10, 30]), (3, [10, 48]), (5, [100, 20])):
        page.evaluate(f"void map.jumpTo({{ center: {centre}, zoom: {zoom} }})")
        page.wait("map.loaded() && map.areTilesLoaded()", f"tiles of zoom {zoom}", timeout=90)
        box = page.evaluate("map.getBounds().toArray().flat()")
        nodes = page.evaluate("""map.querySourceFeatures("clusters", { sourceLayer: "cities" })
            .map((feature) => ({ geometry: feature.geometry, properties: feature.properties }))""")
        compare("MapLibre", daemon, zoom, box, nodes)
    for layer in page.evaluate("map.getStyle().layers.map((layer) => layer.id)"):
        page.wait(f"map.queryRenderedFeatures({{ layers: ['{layer}'] }}).length", f"the layer {layer}", timeout=90)
    if page.problems:
        raise Failure(f"in the console: {page.problems[:3]}")


def degrees(x, y):
    """Web Mercator's metres as longitude and latitude."""
    radius = 6378137
    return math.degrees(x / radius), math.degrees(2 * math.atan(math.exp(y / radius)) - math.pi / 2)


def openlayers(daemon, site, browser):
    """The view's zoom counts tiles of 256 pixels: at zoom 4 it shows the daemon's nodes of zoom 3."""
    page = browser.page()
    page.open(site.address)
    page.wait("window.map?.getView", "the map", timeout=90)
    for zoom, centre in ((2, [10, 30]), (4, [10, 48]), (6, [100, 20])):
        page.evaluate(f"""new Promise((resolve) => {{
            map.getView().setCenter(ol.proj.fromLonLat({centre}));
            map.getView().setZoom({zoom});
            map.once("rendercomplete", () => resolve(true));
            map.render();
        }})""")
        box = page.evaluate("map.getView().calculateExtent(map.getSize())")
        found = page.evaluate("""(() => {
            const seen = new Map();
            for (const feature of map.getLayers().item(0).getFeaturesInExtent([-1e9, -1e9, 1e9, 1e9])) {
                const at = feature.getFlatCoordinates(), properties = { ...feature.getProperties() };
                delete properties.geometry;
                seen.set(JSON.stringify(at), { at, properties });
            }
            return [...seen.values()];
        })()""")
        nodes = []
        for node in found:
            longitude, latitude = degrees(*node["at"])
            nodes.append({"geometry": {"coordinates": [longitude, latitude]}, "properties": node["properties"]})
        compare("OpenLayers", daemon, zoom - 1, box, nodes)
    if page.problems:
        raise Failure(f"in the console: {page.problems[:3]}")


def deckgl(daemon, site, browser):
    """deck.gl counts zoom in tiles of 512 pixels, as the daemon does."""
    page = browser.page()
    page.open(site.address)
    page.wait("window.map?.isInitialized", "the map", timeout=90)
    for zoom, centre in ((1, [10, 30]), (3, [10, 48]), (5, [100, 20])):
        page.evaluate(f"void map.setProps({{ initialViewState: {{ longitude: {centre[0]}, latitude: {centre[1]}, zoom: {zoom} }} }})")
        page.wait(f"""(() => {{
            const [view] = map.getViewports(), layer = map.props.layers[0];
            const live = map.layerManager.getLayers().find((other) => other.id === layer.id);
            return view && Math.abs(view.zoom - {zoom}) < 0.01 && live.isLoaded && live.state.tileset.selectedTiles.every((tile) => tile.index.z === {zoom} && tile.isLoaded);
        }})()""", f"tiles of zoom {zoom}", timeout=90)
        box = page.evaluate("map.getViewports()[0].getBounds()")
        # What the library keeps of a tile is in parts of the tile.
        tiles = page.evaluate("""(() => {
            const live = map.layerManager.getLayers().find((other) => other.id === map.props.layers[0].id);
            return live.state.tileset.selectedTiles.map(({ index, content }) => ({ index, content }));
        })()""")
        nodes = []
        for tile in tiles:
            for node in tile["content"] or []:
                part = [(tile["index"][axis] + node["geometry"]["coordinates"][place]) / 2 ** zoom for place, axis in enumerate("xy")]
                side = 2 * math.pi * 6378137
                place = degrees((part[0] - 0.5) * side, (0.5 - part[1]) * side)
                nodes.append({"geometry": {"coordinates": place}, "properties": node["properties"]})
        compare("deck.gl", daemon, zoom, box, nodes)
    if page.problems:
        raise Failure(f"in the console: {page.problems[:3]}")


def pmtiles(daemon, site, browser):
    """The archive shows the same, and a click zooms to where the cluster falls apart; nobody is asked for that."""
    maplibre(daemon, site, browser)
    page = browser.page()
    page.open(site.address)
    page.wait("window.map?.loaded() && map.areTilesLoaded()", "the map", timeout=90)
    feature = page.evaluate("""(() => { const [found] = map.queryRenderedFeatures({ layers: ["circles"] })
        .filter((feature) => feature.properties.cluster).sort((a, b) => b.properties.point_count - a.properties.point_count);
        map.fire("click", { point: map.project(found.geometry.coordinates), lngLat: found.geometry.coordinates, originalEvent: {} });
        return found.properties; })()""")
    page.wait(f"map.getZoom() === {feature['expansionZoom']}", "the zoom at which the cluster falls apart", timeout=90)
    print(f"pmtiles: a click zooms to {feature['expansionZoom']}", flush=True)


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


EXAMPLES = {
    "maplibre": (maplibre_files, maplibre), "leaflet": (leaflet_files, leaflet), "openlayers": (openlayers_files, openlayers),
    "deckgl": (deckgl_files, deckgl), "pmtiles": (maplibre_files, pmtiles),
}


def main():
    example, daemon = sys.argv[1], sys.argv[2].rstrip("/")
    files, check = EXAMPLES[example]
    site = Site(example, daemon, *files())
    with Browser(*FLAGS) as browser:
        check(daemon, site, browser)


if __name__ == "__main__":
    main()
