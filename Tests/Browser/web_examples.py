#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens the examples of Examples/web in a real browser and compares what they show with GetClusters.

    python3 web_examples.py maplibre|leaflet|openlayers|deckgl|deckgl_columns|pmtiles ADDRESS
    python3 web_examples.py published ADDRESS FOLDER

ADDRESS is the daemon's, which has the source `cities`, its archive `cities.pmtiles` and `"origins": ["*"]`. The libraries come from
this machine: Leaflet from Debian's libjs-leaflet, the others from PyPI's wheels `maplibre`, `openlayers` and `pydeck`, which scripts/test puts into
.build/test-python. FOLDER has what publish --page wrote. Exits with 77 if the library is not there.
"""
import functools, http.server, importlib.machinery, importlib.util, json, math, os, sys, threading
import urllib.parse, urllib.request

from devtools import Browser, Failure

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.append(f"{ROOT}/.build/test-python")
# Web GL without a graphics card.
FLAGS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]


def load_server():
    """Examples/web/serve as a module."""
    loader = importlib.machinery.SourceFileLoader("serve", f"{ROOT}/Examples/web/serve")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("serve", loader))
    loader.exec_module(module)
    return module


def serve(example, library, daemon):
    """The examples on a site of another origin than the daemon's, as their own script serves them; returns a page's address.
    A library that is not on this machine is not fetched."""
    examples = load_server()

    class Handler(examples.Handler):
        def do_GET(self):
            if not self.path.endswith(".html"):
                return super().do_GET() if "favicon" not in self.path else self.send_response(204) or self.end_headers()
            with open(f"{ROOT}/Examples/web{self.path}", encoding="utf-8") as file:
                text = file.read()
            # What this test asks for is a global.
            text = text.replace("http://127.0.0.1:8080", daemon).replace("const map = ", "const map = window.map = ")
            body = text.replace("const markers = ", "const markers = window.markers = ").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    examples.Handler = Handler
    try:
        server = examples.site([library], fetches=False)
    except examples.Missing as error:
        print(f"skipped: {error}")
        sys.exit(77)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/{example}.html"


def clusters(daemon, box, zoom):
    query = urllib.parse.urlencode({"bbox": ",".join(map(str, box)), "zoom": zoom})
    with urllib.request.urlopen(f"{daemon}/sources/cities/clusters?{query}", timeout=120) as answer:
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


def check_away(page, daemon, address):
    """Nothing is loaded from elsewhere, and nothing is wrong in the console."""
    here = [urllib.parse.urlsplit(url).netloc for url in (daemon, address)]
    away = [url for url in page.requests if not url.startswith(("data:", "blob:", "about:")) and urllib.parse.urlsplit(url).netloc not in here]
    if away:
        raise Failure(f"requests to elsewhere: {away[:3]}")
    if not any("/ground" in url for url in page.requests):
        raise Failure("there is no ground")
    if page.problems:
        raise Failure(f"in the console: {page.problems[:3]}")


# Whether MapLibre's picture is complete, with what a layer draws.
# A layer that is not there yet would be an error in the console.
RENDERED = "map.getLayer('{0}') && map.queryRenderedFeatures({{ layers: ['{0}'] }}).length"


def maplibre(daemon, address, browser):
    """The layer shows at each zoom what GetClusters gives, has counts, and a click zooms."""
    page = browser.page()
    page.open(address)
    page.wait("window.map?.loaded()", "the map")
    for zoom, centre in ((1, [10, 30]), (3, [10, 48]), (5, [100, 20])):
        page.evaluate(f"void map.jumpTo({{ center: {centre}, zoom: {zoom} }})")
        box = page.evaluate("map.getBounds().toArray().flat()")
        features = clusters(daemon, [box[0], max(-90, box[1]), box[2], min(90, box[3])], zoom)
        data = "map.getSource('clusters').serialize().data.features"
        page.wait(f"{data}.length === {len(features)}", f"{len(features)} markers at zoom {zoom}")
        expect(sorted(map(name, page.evaluate(f"{data}.map((feature) => feature.properties)"))), features, f"MapLibre at zoom {zoom}")
    for layer in ("ground-land-fill", "clusters-circles", "clusters-counts"):
        page.wait(RENDERED.format(layer), f"the layer {layer}")
    click_maplibre(daemon, page, "clusters-circles")
    check_away(page, daemon, address)


def click_maplibre(daemon, page, layer):
    """A click on the largest circle zooms to where it separates."""
    found = page.evaluate(f"""(() => {{ const [found] = map.queryRenderedFeatures({{ layers: ["{layer}"] }})
        .filter((feature) => feature.properties.cluster).sort((a, b) => b.properties.point_count - a.properties.point_count);
        const at = map.project(found.geometry.coordinates);
        return {{ id: found.properties.cluster_id, x: at.x, y: at.y }}; }})()""")
    with urllib.request.urlopen(f"{daemon}/sources/cities/clusters/{found['id']}/expansion-zoom", timeout=120) as answer:
        zoom = json.load(answer)["zoom"]
    page.click(found["x"], found["y"])
    page.wait(f"map.getZoom() === {zoom}", f"the zoom {zoom} at which the cluster separates")
    print(f"a click zooms to {zoom}", flush=True)


def degrees(x, y):
    """Web Mercator's metres as longitude and latitude."""
    radius = 6378137
    return math.degrees(x / radius), math.degrees(2 * math.atan(math.exp(y / radius)) - math.pi / 2)


def openlayers(daemon, address, browser):
    """The view's zoom counts tiles of 256 pixels: at zoom 4 it shows the daemon's nodes of zoom 3."""
    page = browser.page()
    page.open(address)
    page.wait("window.map?.getView", "the map")
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
            for (const feature of map.getLayers().item(1).getFeaturesInExtent([-1e9, -1e9, 1e9, 1e9])) {
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
    page.wait("map.getLayers().item(0).getFeaturesInExtent([-1e9, -1e9, 1e9, 1e9]).length > 0", "the ground")
    largest = max((node for node in nodes if node["properties"].get("cluster")), key=lambda node: node["properties"]["point_count"])
    at = page.evaluate(f"map.getPixelFromCoordinate(ol.proj.fromLonLat({largest['geometry']['coordinates']}))")
    before = page.evaluate("map.getView().getZoom()")
    page.click(*at)
    page.wait(f"map.getView().getZoom() > {before} && !map.getView().getAnimating()", "a click zooms")
    check_away(page, daemon, address)


def deckgl(daemon, address, browser):
    """deck.gl counts zoom in tiles of 512 pixels, as the daemon does."""
    page = browser.page()
    page.open(address)
    page.wait("window.map?.isInitialized && window.markers.size", "the map")
    # None is asked for at first: the window's view of the page's own centre.
    for zoom, centre in ((3, None), (1, [10, 30]), (5, [100, 20]), (3, [10, 48])):
        if centre:
            page.evaluate(f"""(() => {{ const viewState = {{ longitude: {centre[0]}, latitude: {centre[1]}, zoom: {zoom} }};
                map.setProps({{ initialViewState: viewState }}); map.props.onViewStateChange({{ viewState }}); }})()""")
        page.wait(f"Math.abs(map.getViewports()[0].zoom - {zoom}) < 0.01", f"zoom {zoom}")
        west, south, east, north = page.evaluate("map.getViewports()[0].getBounds()")
        features = clusters(daemon, [west, max(-90, south), east, min(90, north)], zoom)
        page.wait(f"markers.size === {len(features)}", f"{len(features)} markers at zoom {zoom}")
        expect(sorted(map(name, page.evaluate("[...markers.values()].map((feature) => feature.properties)"))), features, f"deck.gl at zoom {zoom}")
    largest = max((feature for feature in features if feature["properties"].get("cluster")), key=lambda feature: feature["properties"]["point_count"])
    page.wait(f"map.layerManager.getLayers().some((layer) => layer.id === 'circles' && layer.isLoaded)", "the circles")
    at = page.evaluate(f"map.getViewports()[0].project({largest['geometry']['coordinates']})")
    page.hover(*at)
    page.click(*at)
    page.wait("map.getViewports()[0].zoom > 3", "a click zooms")
    check_away(page, daemon, address)


def deckgl_columns(daemon, address, browser):
    """Every point of the source is drawn where it is, and its numbers are those of the answer's own bytes."""
    page = browser.page()
    page.open(address)
    page.wait("window.map?.isInitialized && window.markers.size", "the map")
    with urllib.request.urlopen(f"{daemon}/sources/cities/features", timeout=60) as answer:
        features = {feature["id"]: feature for feature in json.load(answer)["features"]}
    found = dict(page.evaluate("[...markers].map(([id, name]) => [Number(id), name])"))
    if found != {number: feature["properties"]["name"] for number, feature in features.items()}:
        raise Failure(f"{len(found)} points, {len(features)} features: {list(found.items())[:3]}")
    layer = "map.layerManager.getLayers().find((layer) => layer.id === 'points-0')"
    page.wait(f"{layer}?.isLoaded", "the points")
    numbers = page.evaluate(f"(({{ longitude, latitude, id }}) => [[...longitude.values], [...latitude.values], [...id.values].map(Number)])({layer}.props.data.columns)")
    if [list(row) for row in zip(*numbers)] != [[*feature["geometry"]["coordinates"][:2], number] for number, feature in features.items()]:
        raise Failure(f"other numbers than the features': {[row[:3] for row in numbers]}")
    if not page.evaluate(f"(({{ longitude, latitude, id }}) => longitude.values.buffer === latitude.values.buffer && id.values.buffer === longitude.values.buffer)({layer}.props.data.columns)"):
        raise Failure("the columns were copied")
    largest = max(features.values(), key=lambda feature: feature["properties"]["population"] if 0 < feature["geometry"]["coordinates"][0] < 20 and 40 < feature["geometry"]["coordinates"][1] < 55 else 0)
    at = page.evaluate(f"map.getViewports()[0].project({largest['geometry']['coordinates']})")
    page.hover(*at)
    page.wait(f"map.pickObject({{ x: {at[0]}, y: {at[1]}, layerIds: ['points-0'] }})?.index >= 0", "a point is where it is drawn")
    print(f"deck.gl: {len(found)} points from columns", flush=True)
    check_away(page, daemon, address)


def pmtiles(daemon, address, browser):
    """The archive shows the same, and a click zooms to where the cluster separates; nobody is asked for that."""
    page = browser.page()
    page.open(address)
    page.wait("window.map?.loaded()", "the map")
    for zoom, centre in ((1, [10, 30]), (5, [100, 20]), (3, [10, 48])):
        page.evaluate(f"void map.jumpTo({{ center: {centre}, zoom: {zoom} }})")
        page.wait("map.loaded() && map.areTilesLoaded()", f"tiles of zoom {zoom}")
        box = page.evaluate("map.getBounds().toArray().flat()")
        nodes = page.evaluate("""map.querySourceFeatures("clusters", { sourceLayer: "cities" })
            .map((feature) => ({ geometry: feature.geometry, properties: feature.properties }))""")
        compare("MapLibre", daemon, zoom, box, nodes)
    for layer in ("ground-land-fill", "circles", "counts"):
        page.wait(RENDERED.format(layer), f"the layer {layer}")
    click_maplibre(daemon, page, "circles")
    check_away(page, daemon, address)


def leaflet(daemon, address, browser):
    """The map shows the clusters of one zoom less than its own, and a click zooms."""
    page = browser.page()
    page.open(address)
    for zoom in (2, 6, 4):
        page.wait("Boolean(window.map?.getZoom)", "the map")
        shown = """(() => { const shown = []; map.eachLayer((layer) => layer.feature && shown.push(layer.feature.properties)); return shown; })()"""
        # A slow page may still set its own first view after this one.
        for attempt in range(3):
            page.evaluate(f"void map.setView([48, 10], {zoom}, {{ animate: false }})")
            box = page.evaluate("map.getBounds().toBBoxString().split(',').map(Number)")
            features = clusters(daemon, [box[0], max(-90, box[1]), box[2], min(90, box[3])], zoom - 1)
            page.wait(f"{shown}.length === {len(features)}", f"{len(features)} markers at zoom {zoom}")
            found = sorted(map(name, page.evaluate(shown)))
            if found == sorted(name(feature["properties"]) for feature in features):
                break
        expect(found, features, f"Leaflet at zoom {zoom}")
    page.wait("document.querySelectorAll('canvas.leaflet-tile-loaded').length > 0", "the ground")
    counts = page.evaluate("[...document.querySelectorAll('.clusterd-cluster')].map((marker) => marker.textContent)")
    if not counts or not all(counts):
        raise Failure(f"counts: {counts[:5]}")
    page.evaluate("""(() => { const markers = []; map.eachLayer((layer) => layer.feature?.properties.cluster && markers.push(layer));
        markers.sort((a, b) => b.feature.properties.point_count - a.feature.properties.point_count)[0].fire("click"); })()""")
    page.wait("map.getZoom() > 4", "a click zooms")
    check_away(page, daemon, address)


def published(daemon, folder, browser):
    """The page that publish --page wrote into a folder, on a web server without range requests: circles, counts, clicks, panels,
    legend, ground."""
    class Handler(http.server.SimpleHTTPRequestHandler):
        extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript"}

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    page = browser.page()
    page.open(f"{address}#3/48/10")
    markers = "[...document.querySelectorAll('.marker-pane .marker:not(.leaving)')]"
    page.wait(f"document.documentElement.dataset.state === 'live' && {markers}.length > 20", "markers")
    nodes = page.evaluate(f"{markers}.map(({{ marker: {{ feature: {{ geometry, properties }} }} }}) => ({{ geometry, properties }}))")
    # The part of the map in view, as in the address.
    size = page.evaluate("[document.getElementById('map').clientWidth, document.getElementById('map').clientHeight]")
    side = 512 * 2 ** 3
    middle = [(10 / 360 + 0.5) * side, (0.5 - math.asinh(math.tan(math.radians(48))) / math.pi / 2) * side]
    corners = [((middle[0] + sign * size[0] / 2) / side, (middle[1] + sign * size[1] / 2) / side) for sign in (-1, 1)]
    (west, north), (east, south) = [(x * 360 - 180, math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * y))))) for x, y in corners]
    compare("The published page", daemon, 3, [west, south, east, north], nodes)
    if not all(page.evaluate("[...document.querySelectorAll('.core:not([hidden])')].map((core) => core.textContent)")):
        raise Failure("a circle has no number")
    if "750 or more" not in page.evaluate("document.getElementById('legend').innerText"):
        raise Failure("there is no legend")
    page.wait("document.querySelectorAll('canvas.leaflet-tile-loaded').length > 0", "the ground")
    page.evaluate(f"{markers}.find((marker) => marker.classList.contains('point')).click()")
    page.wait("document.getElementById('details').innerText.includes('population')", "a point's properties")
    page.wait("document.getAnimations().length === 0", "everything is at rest")
    x, y, zoom = page.evaluate(f"""(() => {{ const found = {markers}.map((marker) => [marker.getBoundingClientRect(), marker])
        .filter(([box, marker]) => box.x > 200 && box.x < 850 && box.y > 150 && box.y < 600 && marker.marker.feature.properties.cluster)
        .sort((one, other) => other[0].width - one[0].width)[0];
        return [found[0].x + found[0].width / 2, found[0].y + found[0].height / 2, found[1].marker.feature.properties.expansionZoom]; }})()""")
    page.click(x, y)
    page.wait(f"location.hash.startsWith('#{zoom}/')", f"the zoom {zoom} at which the cluster separates")
    away = [url for url in page.requests if not url.startswith((address, "data:", "blob:", "about:"))]
    if away or page.problems:
        raise Failure(f"elsewhere {away[:3]}, in the console {page.problems[:3]}")
    opened = browser.page()
    opened.open(f"file://{os.path.abspath(folder)}/index.html")
    opened.wait("document.getElementById('notice')?.innerText.includes('needs a web server')", "advice to who opens the file")


EXAMPLES = {"maplibre": ("maplibre", maplibre), "leaflet": ("leaflet", leaflet), "openlayers": ("openlayers", openlayers), "deckgl": ("deckgl", deckgl), "deckgl_columns": ("deckgl", deckgl_columns), "pmtiles": ("maplibre", pmtiles)}


def main():
    example, daemon = sys.argv[1], sys.argv[2].rstrip("/")
    if example == "published":
        with Browser(*FLAGS) as browser:
            return published(daemon, sys.argv[3], browser)
    library, check = EXAMPLES[example]
    address = serve(example, library, daemon)
    with Browser(*FLAGS) as browser:
        check(daemon, address, browser)


if __name__ == "__main__":
    main()
