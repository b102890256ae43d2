#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks at the map page in a real browser.

    python3 map_page.py ADDRESS SOCKET SCENARIO...     the page's address, the daemon's socket, functions of this file

The daemon has the sources `cities` (Examples/cities.geojson), `stack` and `floor` (see MapPageTests). Exits with 1 and says
why if a scenario fails.
"""
import contextlib, datetime, http.server, json, math, os, sys, threading, traceback, urllib.parse, urllib.request

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, f"{ROOT}/Examples")
from clusterd_client import Client
from devtools import Browser, Failure

DESKTOP, PHONE = (1280, 800), (390, 844)
LIVE = "document.documentElement.dataset.state === 'live'"
MARKERS = "[...document.querySelectorAll('.marker-pane .marker:not(.leaving)')]"


class Scene:
    """An opened page, and the daemon behind it."""

    def __init__(self, browser, base, socket):
        self.browser, self.base, self.socket = browser, base.rstrip("/"), socket
        self.open_pages = []

    def open(self, path, size=DESKTOP, script=None, **options):
        page = self.browser.page(*size, mobile=size == PHONE, **options)
        self.open_pages.append(page)
        if script:
            page.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        page.open(self.base + path)
        page.wait(LIVE, "the page is live")
        return page

    def client(self):
        return Client(self.socket)

    def get(self, path, **parameters):
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"{self.base}{path}?{query}", timeout=120) as answer:
            return json.load(answer)

    def box(self, page):
        """The box of the page's view, computed here from the address."""
        zoom, latitude, longitude = map(float, page.evaluate("location.hash.slice(1)").split("/"))
        width, height = page.evaluate("[document.getElementById('map').clientWidth, document.getElementById('map').clientHeight]")
        side = 512 * 2 ** zoom
        sine = math.sin(math.radians(latitude))
        x = (longitude / 360 + 0.5) * side
        y = (0.5 - 0.25 * math.log((1 + sine) / (1 - sine)) / math.pi) * side
        west, east = ((x + sign * width / 2) / side * 360 - 180 for sign in (-1, 1))
        north, south = (
            max(-90, min(90, math.degrees(2 * math.atan(math.exp(math.pi * (1 - 2 * (y + sign * height / 2) / side))) - math.pi / 2)))
            for sign in (-1, 1))
        if east - west >= 360:
            west, east = -180, 180
        return west, south, east, north

    def expected(self, page, source, **parameters):
        """What GetClusters gives for the page's view."""
        west, south, east, north = self.box(page)
        zoom = float(page.evaluate("location.hash.slice(1)").split("/")[0])
        return self.get(f"/sources/{source}/clusters", bbox=f"{west},{south},{east},{north}", zoom=max(0, zoom), **parameters)["features"]

    def check_page(self, page, allowed=()):
        """No error in the console, and no request to anywhere else."""
        host = urllib.parse.urlsplit(self.base).netloc
        away = [url for url in page.requests if not url.startswith(("data:", "blob:", "about:")) and urllib.parse.urlsplit(url).netloc != host]
        check(not away, f"requests to elsewhere: {away}")
        problems = [text for text in page.problems if not any(part in text for part in allowed)]
        check(not problems, f"in the console: {problems}")


def check(condition, message):
    if not condition:
        raise Failure(message)


def names(features):
    """How GetClusters' features are called in the page, sorted."""
    def name(feature):
        seen = feature["properties"]
        number = seen.get("point_count")
        return f"Cluster of {number:,} point{'' if number == 1 else 's'}" if seen.get("cluster") else seen["name"]
    return sorted(map(name, features))


def shown(page):
    return sorted(page.evaluate(f"{MARKERS}.map((marker) => marker.getAttribute('aria-label'))"))


def wait_for_names(page, expected, what):
    """Waits until the page shows the expected markers; a function as `expected` is asked again each time, for a view
    that is still moving."""
    for _ in range(150):
        wanted = expected() if callable(expected) else expected
        if shown(page) == wanted:
            return wanted
        page.evaluate("new Promise((resolve) => setTimeout(resolve, 100))")
    raise Failure(f"{what}: {len(shown(page))} markers {shown(page)[:12]}…, not {len(wanted)} {wanted[:12]}…")


def wait_for_view(scene, page, source, what, **parameters):
    """Waits until the page shows what GetClusters gives for its view; returns the names."""
    return wait_for_names(page, lambda: names(scene.expected(page, source, **parameters)), what)


def middle_of(page, condition):
    """The middle of a marker, in the middle part of the window, for which a condition on `marker` holds."""
    page.wait("document.getAnimations().length === 0", "everything is at rest")
    return page.evaluate(f"""(() => {{
        for (const marker of {MARKERS}) {{
            const box = marker.getBoundingClientRect();
            const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
            const isFree = document.elementFromPoint(x, y) === marker;
            if (x > 60 && y > 130 && x < innerWidth - 60 && y < innerHeight - 130 && isFree && ({condition})) return [x, y, marker.getAttribute("aria-label")];
        }}
    }})()""")


def circles(scene):
    """As many circles as GetClusters returns, each with its count, in both sizes and at several zooms."""
    for size in (DESKTOP, PHONE):
        for view in ("1/20/0", "3/48/10", "5/51/6"):
            page = scene.open(f"/?source=cities#{view}", size)
            wait_for_view(scene, page, "cities", f"circles at {view}")
            scene.check_page(page)
            page.close()


def click(scene):
    """A click on a circle zooms to where its cluster splits; a click on a dot shows the point's properties."""
    page = scene.open("/?source=cities#2/48/10")
    wait_for_view(scene, page, "cities", "circles")
    x, y, label = middle_of(page, "marker.textContent === '' && !marker.classList.contains('point')")
    features = scene.expected(page, "cities")
    count = int(label.split()[2].replace(",", ""))
    zooms = {
        scene.get(f"/sources/cities/clusters/{feature['properties']['cluster_id']}/expansion-zoom")["zoom"]
        for feature in features if feature["properties"].get("point_count") == count}
    page.click(x, y)
    page.wait("!location.hash.startsWith('#2/')", "the map has zoomed in")
    zoom = float(page.evaluate("location.hash.slice(1)").split("/")[0])
    check(zoom in zooms, f"zoomed to {zoom}, not {zooms}")
    wait_for_view(scene, page, "cities", "circles after the click")
    page.evaluate("history.back()")
    page.wait("location.hash.startsWith('#2/')", "going back leads to the view before the click")
    wait_for_view(scene, page, "cities", "circles before the click")
    page.evaluate("location.hash = '#5/48/10'")
    page.wait("location.hash.startsWith('#5/48')", "moved")
    wait_for_view(scene, page, "cities", "circles after the move")
    x, y, label = middle_of(page, "marker.classList.contains('point')")
    page.click(x, y)
    text = page.wait("!document.getElementById('details').hidden && document.getElementById('details').innerText", "the properties")
    check(label in text and "country" in text and "population" in text, f"properties of {label}: {text}")
    page.key("Escape")
    page.wait("document.getElementById('details').hidden", "Escape closes the properties")
    scene.check_page(page)


def hover(scene):
    """A hover over a circle shows the area of its points."""
    page = scene.open("/?source=cities#2/48/10")
    wait_for_view(scene, page, "cities", "circles")
    x, y, _ = middle_of(page, "marker.getBoundingClientRect().width > 30")
    page.hover(x, y)
    page.wait("document.querySelector('path.hull')?.getAttribute('d')?.length > 20", "the hull")
    page.hover(5, 5)
    page.wait("!document.querySelector('path.hull')", "no hull")
    scene.check_page(page)


def filter(scene):
    """A filter leaves what passes; a wrong one says what is wrong, and the map stays."""
    page = scene.open("/?source=cities#3/48/10")
    everything = wait_for_view(scene, page, "cities", "circles")
    expression = '[">",["get","population"],2000000]'

    page.key("/", "Slash")
    page.evaluate("document.getElementById('filter-mode').click()")

    def apply(text):
        page.evaluate("document.getElementById('filter').select()")
        page.write(text)
        page.key("Enter")

    apply('["no such operator"]')
    message = page.wait("!document.getElementById('filter-error').hidden && document.getElementById('filter-error').textContent", "the error")
    check("no such operator" in message, message)
    check(set(shown(page)) & set(everything), "the map is empty")
    check("filter" not in page.evaluate("location.search"), "the wrong filter is in the address")
    line = "document.getElementById('filter-error').textContent"
    apply("population > 2000000")
    page.wait(f"{line}.includes('not valid JSON') && {line}.includes('A filter is an expression, such as [')", "what a filter is")
    misspelt = '[">",["get","popluation"],2000000]'
    apply(misspelt)
    page.wait(f"{line}.includes('did you mean \"population\"?') && location.search.includes('filter')", "advice")
    page.call("Page.reload")
    page.wait(f"{LIVE} && {line}.includes('did you mean')", "advice on the address's filter")
    page.key("/", "Slash")
    page.evaluate("document.getElementById('filter-mode').checked || document.getElementById('filter-mode').click()")
    apply(expression)
    page.wait("document.getElementById('filter-error').hidden && location.search.includes('filter')", "the filter is applied")
    passing = wait_for_view(scene, page, "cities", "filtered circles", filter=expression)
    check(passing != everything, "the filter filters")
    check(page.evaluate("new URLSearchParams(location.search).get('filter')") == expression, "the filter is in the address")
    page.evaluate("document.getElementById('filter-clear').click()")
    wait_for_view(scene, page, "cities", "circles without a filter")
    # The browser itself notes each answer of 400.
    scene.check_page(page, allowed=["status of 400"])


def live(scene):
    """A change of the data shows by itself."""
    page = scene.open("/?source=cities#6/0/-25")
    page.wait(f"{MARKERS}.length === 0", "an empty sea")
    island = {"type": "Feature", "id": "island", "geometry": {"type": "Point", "coordinates": [-25, 0]}, "properties": {"name": "New Island"}}
    client = scene.client()
    try:
        page.evaluate(f"""void (window.seen = new Promise((resolve) => {{
            const look = () => ({MARKERS}.length === 1 ? resolve(performance.timeOrigin + performance.now()) : requestAnimationFrame(look));
            look();
        }}))""")
        start = page.evaluate("performance.timeOrigin + performance.now()")
        client.call("SourceService/UpdateFeatures", source="cities", upsert=[island])
        end = page.evaluate("window.seen")
        print(f"live update on screen after {end - start:.0f} ms", flush=True)
        wait_for_names(page, ["New Island"], "the new point")
        island["geometry"]["coordinates"] = [-24, 1]
        client.call("SourceService/UpdateFeatures", source="cities", upsert=[island])
        page.wait("document.getElementById('counts').textContent.includes('1 point')", "the counts")
    finally:
        client.call("SourceService/UpdateFeatures", source="cities", remove=["island"])
    page.wait(f"{MARKERS}.length === 0", "the point has gone")
    scene.check_page(page)


def gone(scene):
    """A source that is deleted leaves an empty map that says so, and comes back with its data."""
    client = scene.client()
    point = {"type": "Feature", "id": 1, "geometry": {"type": "Point", "coordinates": [10, 48]}, "properties": {"name": "Here"}}

    def make():
        client.call("SourceService/CreateSource", source="passing", options={})
        client.call("SourceService/UpdateFeatures", source="passing", upsert=[point])

    make()
    page = scene.open("/?source=passing#4/48/10")
    wait_for_names(page, ["Here"], "the source's point")
    client.call("SourceService/DeleteSource", source="passing")
    notice = "document.getElementById('notice')"
    page.wait(f"!{notice}.hidden && {notice}.textContent.includes('no source \"passing\"')", "the notice")
    page.wait(f"{MARKERS}.length === 0", "no marker")
    page.wait("document.getElementById('source').selectedIndex === -1", "no source is chosen")
    make()
    wait_for_names(page, ["Here"], "the point of the new source")
    check(page.evaluate(f"{notice}.hidden && document.getElementById('source').value") == "passing", "the source is chosen again")
    client.call("SourceService/DeleteSource", source="passing")
    # The browser itself notes each answer of 404, and each WebSocket that was refused.
    scene.check_page(page, allowed=["status of 404", "WebSocket"])


def address(scene):
    """The address keeps source, centre, zoom and filter: it restores them, and so does going back."""
    expression = '["==",["get","country"],"Japan"]'
    path = f"/?source=cities&filter={urllib.parse.quote(expression)}#4/36/138"
    page = scene.open(path)
    wait_for_view(scene, page, "cities", "what the address says", filter=expression)
    check(page.evaluate("document.getElementById('source').value") == "cities", "the source")
    check(page.evaluate("document.getElementById('filter').value") == expression, "the filter")
    page.evaluate("document.getElementById('map').focus()")
    page.key("+")
    page.wait("location.hash.startsWith('#5/')", "the new zoom in the address")
    kept = page.evaluate("location.href")
    page.call("Page.reload")
    page.wait(f"location.href === {json.dumps(kept)} && {LIVE}", "the same address after a reload")
    wait_for_view(scene, page, "cities", "the same circles after a reload", filter=expression)
    page.evaluate("document.getElementById('filter-clear').click()")
    page.wait("!location.search.includes('filter')", "no filter in the address")
    page.evaluate("history.back()")
    page.wait("location.search.includes('filter') && document.getElementById('filter').value !== ''", "the filter is back")
    page.evaluate("document.getElementById('source').value = 'stack'; document.getElementById('source').dispatchEvent(new Event('change'))")
    page.wait("location.search.includes('source=stack') && !location.search.includes('filter')", "another source")
    wait_for_view(scene, page, "stack", "the other source's markers")
    scene.check_page(page)


def framed(scene):
    """A page of another port of this machine, such as a notebook's, shows the map in a frame."""
    frame = f'<!DOCTYPE html><title>notebook</title><iframe src="{scene.base}/?source=cities#3/48/10" width="800" height="500"></iframe>'

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/" else 204)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(frame.encode() if self.path == "/" else b"")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = scene.browser.page(*DESKTOP)
    scene.open_pages.append(page)
    page.open(f"http://127.0.0.1:{server.server_address[1]}/")
    page.wait("document.querySelector('iframe')", "the outer page")
    for _ in range(600):
        page.evaluate("new Promise((resolve) => setTimeout(resolve, 100))")
        if any(kind == "Received" for kind, _ in page.sockets) or page.problems:
            break
    check(any(kind == "Received" for kind, _ in page.sockets), f"the map in the frame watches nothing: {page.problems}")
    check(not page.problems, f"in the console: {page.problems}")
    server.shutdown()


def themes(scene):
    """Light and dark follow the system and the button."""
    page = scene.open("/?source=cities#3/48/10")
    colour = "getComputedStyle(document.querySelector('header')).color + getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    tile = "(() => { const tile = document.querySelector('canvas.leaflet-tile-loaded'); return tile && [...tile.getContext('2d').getImageData(1, 1, 1, 1).data].join() })()"
    light_tile = page.wait(tile, "a tile of land or sea")
    page.set_theme(dark=True)
    page.wait(f"{colour} !== {json.dumps(light)}", "dark as the system")
    page.wait(f"{tile} && {tile} !== {json.dumps(light_tile)}", "a dark tile")
    page.evaluate("document.getElementById('theme').click()")
    page.wait(f"{colour} === {json.dumps(light)}", "light by the button")
    page.evaluate("document.getElementById('theme').click()")
    page.wait(f"{colour} !== {json.dumps(light)}", "dark by the button")
    page.set_theme(dark=False)
    page.call("Page.reload")
    page.wait(f"{LIVE} && {colour} !== {json.dumps(light)}", "the choice is kept")
    page.evaluate("localStorage.clear()")
    scene.check_page(page)


def sizes(scene):
    """Everything can be reached and nothing is cut off, on a desktop and on a phone."""
    for size in (DESKTOP, PHONE):
        page = scene.open("/?source=cities#3/48/10", size)
        width = page.evaluate("document.documentElement.scrollWidth")
        check(width <= size[0], f"{width} pixels wide at {size}")
        outside = page.evaluate("""["source", "search", "colour", "filter-open", "table-open", "link", "home", "theme", "help-open", "legend", "status"].filter((id) => {
            const box = document.getElementById(id).getBoundingClientRect();
            return box.width < 20 || box.left < 0 || box.right > innerWidth || box.top < 0 || box.bottom > innerHeight;
        })""")
        check(not outside, f"outside at {size}: {outside}")
        overlap = page.evaluate("document.getElementById('status').getBoundingClientRect().right > document.querySelector('.leaflet-control-zoom').getBoundingClientRect().left")
        check(not overlap, f"the corner runs into the buttons at {size}")
        scene.check_page(page)
        page.close()


def keyboard(scene):
    """All of it works without a pointer, and says what it is to a screen reader."""
    page = scene.open("/?source=cities#4/48/10")
    wait_for_view(scene, page, "cities", "circles")
    page.evaluate("document.getElementById('map').focus()")
    page.key("Tab")
    label = "document.activeElement.getAttribute('aria-label')"
    first = page.evaluate(label)
    check(first in shown(page), f"Tab leads to {first}")
    page.key("ArrowRight")
    second = page.evaluate(label)
    check(second in shown(page) and second != first, f"the arrow leads to {second}")
    page.evaluate(f"{MARKERS}.find((marker) => marker.classList.contains('point')).focus()")
    name = page.evaluate(label)
    page.key("Enter")
    page.wait("!document.getElementById('details').hidden", "Enter shows the properties")
    page.wait(f"document.querySelector('.pinned-pane .marker')?.getAttribute('aria-label').startsWith({json.dumps(name)})", "it is pinned")
    page.key("Escape")
    page.wait("document.getElementById('details').hidden", "Escape closes them")
    check(page.evaluate("document.activeElement.matches('.pinned-pane .marker:not(.leaving)')"), f"the marker of {name} has the focus again")
    page.key("/", "Slash")
    check(page.evaluate("document.activeElement.closest('#filter-form') !== null"), "/ leads to the filter")
    page.key("Escape")
    page.wait("document.getElementById('filter-form').hidden && document.activeElement.id === 'filter-open'", "Escape closes the filter")
    page.key("/", "Slash")
    page.evaluate("""(() => { const property = document.querySelector('.condition select'); property.value = 'population';
        property.dispatchEvent(new Event('change', { bubbles: true })); document.querySelector('.condition input').focus(); })()""")
    page.write("2000000")
    page.key("Enter")
    page.wait("location.search.includes('filter')", "Enter applies the filter")
    check(page.evaluate("document.activeElement.matches('.condition input')"), "the field has the focus still")
    page.key("Escape")
    page.wait("document.getElementById('filter-form').hidden", "Escape closes the filter that was applied")
    page.evaluate("document.querySelector('.chip button').click()")
    page.wait("!location.search.includes('filter')", "no filter")
    page.key("?", "Slash")
    page.wait("document.getElementById('help').open", "? shows the help")
    page.key("Escape")
    page.wait("!document.getElementById('help').open", "Escape closes the help")
    page.wait("document.getElementById('announcer').textContent.endsWith('in view')", "what a screen reader says")
    unnamed = page.evaluate("""[...document.querySelectorAll("button, input, select, a[href]")].filter((element) =>
        !(element.getAttribute("aria-label") || element.textContent.trim() || element.labels?.length || element.title)).map((element) => element.outerHTML)""")
    check(not unnamed, f"without a name: {unnamed}")
    scene.check_page(page)


def fan(scene):
    """Points at one position fan out, as a cluster and at a zoom at which they are points."""
    for zoom in (10, 20):
        page = scene.open(f"/?source=stack#{zoom}/10/20")
        page.wait(f"{MARKERS}.length > 0", "markers")
        x, y, _ = middle_of(page, "true")
        page.click(x, y)
        page.wait("document.querySelectorAll('.leaf').length === 5", "five leaves")
        check(len(page.evaluate("[...new Set([...document.querySelectorAll('.leaf')].map((leaf) => leaf.style.transform))]")) == 5, "each at its own position")
        x, y = page.evaluate("(() => { const box = document.querySelectorAll('.leaf')[2].getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2] })()")
        page.click(x, y)
        text = page.wait("!document.getElementById('details').hidden && document.getElementById('details').innerText", "a leaf's properties")
        check("floor" in text, text)
        page.key("Escape")
        page.wait("document.querySelectorAll('.leaf').length === 0", "Escape closes the fan")
        scene.check_page(page)
        page.close()


def plane(scene):
    """A source on a plane has its own units and no world below it."""
    page = scene.open("/?source=floor#0/30/50")
    whole = scene.get("/sources/floor/clusters", bbox="0,0,100,60", zoom=0)["features"]
    wait_for_names(page, names(whole), "what is on the plane")
    check(page.evaluate("document.querySelectorAll('canvas.leaflet-tile').length") == 0, "there is no world")
    edge = page.evaluate("(() => { const box = document.querySelector('path.plane').getBoundingClientRect(); return [box.width, box.height] })()")
    check(abs(edge[0] - 512) < 4 and abs(edge[1] - 307) < 4, f"the plane is {edge}")
    # y grows upwards.
    order = page.evaluate("""['desk 1', 'desk 9'].map((name) => document.querySelector(`.marker[aria-label="${name}"]`)?.getBoundingClientRect().y)""")
    check(order[0] and order[1] and order[0] > order[1], f"desk 9 is above desk 1: {order}")
    page.evaluate("document.querySelector('.marker[aria-label=\"desk 9\"]').click()")
    text = page.wait("!document.getElementById('details').hidden && document.getElementById('details').innerText", "the properties")
    check("90, 55" in text, text)
    page.evaluate("document.getElementById('source').value = 'cities'; document.getElementById('source').dispatchEvent(new Event('change'))")
    page.wait("document.querySelectorAll('canvas.leaflet-tile-loaded').length > 0", "the world is back")
    wait_for_view(scene, page, "cities", "the world's circles")
    scene.check_page(page)


def motion(scene):
    """A marker that is shown still moves from where it was; a new one comes out of the one that it was in."""
    page = scene.open("/?source=cities#3/48/10", script=SCRIPTED_SOCKET)
    page.wait("window.sockets?.length === 1", "a watch")

    def send(item):
        page.evaluate(f"sockets[0].onmessage({{data: {json.dumps(json.dumps(item))}}})")

    def cluster(key, x, y, count, **members):
        seen = {"cluster": True, "cluster_id": 1, "point_count": count, "point_count_abbreviated": count}
        return {"type": "Feature", "id": 1, "key": key, "geometry": {"type": "Point", "coordinates": [x, y]}, "properties": seen, **members}

    send({"add": [cluster("a", 10, 48, 9)], "update": [], "remove": [], "keep": 0, "revision": 1})
    page.wait(f"{MARKERS}.length === 1 && document.getAnimations().length === 0", "one marker")
    page.evaluate(f"window.first = {MARKERS}[0]; window.start = first.getBoundingClientRect().x")
    send({"add": [cluster("b", 14, 48, 4, **{"from": "a"})], "update": [cluster("a", 6, 48, 5)], "remove": [], "keep": 0, "revision": 2})
    check(page.evaluate(f"{MARKERS}.includes(first)"), "the marker is the same element")
    moving = page.evaluate(f"""{MARKERS}.map((marker) => {{
        const animation = marker.getAnimations()[0];
        animation.pause();
        animation.currentTime = 0;
        const box = marker.getBoundingClientRect();
        return Math.abs(box.x + box.width / 2 - (start + first.getBoundingClientRect().width / 2)) < 6;
    }})""")
    check(moving == [True, True], f"both begin where the first one was: {moving}")
    page.evaluate("document.getAnimations().forEach((animation) => animation.play())")
    page.wait("document.getAnimations().length === 0", "at rest")
    positions = page.evaluate(f"{MARKERS}.map((marker) => Math.round(marker.getBoundingClientRect().x - start))")
    check(positions[0] < -30 and positions[1] > 30, f"they have moved apart: {positions}")
    send({"add": [], "update": [cluster("a", 10, 48, 9)], "remove": [{"key": "b", "into": "a"}], "keep": 0, "revision": 3})
    page.wait("document.querySelectorAll('.marker-pane .marker').length === 1", "the absorbed marker has gone")
    check(page.evaluate("first.isConnected && Math.abs(first.getBoundingClientRect().x - start) < 6"), "the first one is back")
    # Plain keys: strings to remove, nothing to move.
    send({"add": [cluster("c", 12, 48, 3)], "remove": ["a"], "keep": 0, "revision": 4})
    page.wait(f"{MARKERS}.length === 1 && document.querySelectorAll('.marker-pane .marker').length === 1", "another marker")
    scene.check_page(page)


def panel(scene):
    """A cluster's panel has its count, its aggregates, its area and all of its points; it follows the filter and the data."""
    client = scene.client()
    client.call("SourceService/CreateSource", source="shops", options={"clusterProperties": {"seats": ["+", ["get", "seats"]], "kinds": ["histogram", ["get", "kind"]]}})
    kinds = ["bar", "cafe", "cafe", "<img src=x onerror=window.hacked=1>"]
    try:
        client.call("SourceService/UpdateFeatures", source="shops", upsert=[
            {"type": "Feature", "id": number, "geometry": {"type": "Point", "coordinates": [10 + (number % 20) / 1000, 48 + (number // 20) / 1000]},
             "properties": {"name": f"shop {number}", "kind": kinds[number % 4], "seats": number % 7, "site": "https://example.org/" if number % 2 else "javascript:window.hacked=1"}}
            for number in range(1, 181)])
        page = scene.open("/?source=shops#5/48/10")
        page.wait(f"{MARKERS}.length === 1", "one circle")
        text = "document.getElementById('details').innerText"
        x, y, _ = middle_of(page, "true")
        # With Shift, by a long press, by Enter and by the arrow.
        page.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1, modifiers=8)
        page.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1, modifiers=8)
        page.wait(f"{text}.includes('Cluster of 180 points')", "Shift and a click")
        page.wait(f"/\\d km²/.test({text})", "the area")
        seats = sum(number % 7 for number in range(1, 181))
        check(f"seats\n{seats}" in page.evaluate(text), f"the sum of seats: {page.evaluate(text)}")
        page.wait("document.querySelectorAll('#details .bars').length >= 2", "counts by kind")
        bars = page.evaluate("[...document.querySelectorAll('#details section .bars li')].map((row) => row.innerText)")
        check(bars[0].startswith("cafe") and "90 (50 %)" in bars[0], f"the most frequent kind: {bars}")
        for _ in range(8):
            page.evaluate("document.getElementById('details').scrollTop = 1e6; new Promise((resolve) => setTimeout(resolve, 150))")
        page.wait("document.querySelectorAll('.leaves li').length === 180", "all points")
        check("All 180 points." in page.evaluate(text), "the end of the list")
        close, zoom_in = (page.evaluate(f"""(() => {{ const element = document.querySelector({json.dumps(selector)});
            const box = element.getBoundingClientRect();
            return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === element; }})()""")
            for selector in ("#details .close", ".leaflet-control-zoom-in"))
        check(close, "the panel's close button has been scrolled away")
        check(zoom_in, "the panel covers the button that zooms in")
        page.evaluate("[...document.querySelectorAll('.leaves button')].find((leaf) => leaf.innerText.includes('shop 2\\n')).click()")
        page.wait(f"{text}.includes('javascript:window.hacked') && {text}.includes('Back to the cluster')", "a point of the list")
        check(page.evaluate("document.querySelectorAll('#details a, #details img').length") == 0, "a script's address is no link")
        check(page.evaluate("Number(getComputedStyle(document.querySelector('.chosen-pane')).zIndex) > 610"), "the chosen point's ring is under the circles")
        page.evaluate("[...document.querySelectorAll('#details button')].find((each) => each.innerText === 'Zoom to it').click()")
        page.wait(f"Number(location.hash.slice(1).split('/')[0]) > 8 && {MARKERS}.some((marker) => marker.getAttribute('aria-label') === 'shop 2')", "the point by itself")
        check("Back to the cluster" in page.evaluate(text), "the way back to the cluster is lost")
        page.evaluate("history.back()")
        page.wait(f"location.hash.startsWith('#5/') && {MARKERS}.length === 1", "the view before")
        page.key("Escape")
        page.wait("document.querySelectorAll('.leaves li').length === 180", "back to the list")
        page.key("Escape")
        page.wait("document.getElementById('details').hidden", "closed")
        page.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        page.wait("!document.getElementById('details').hidden", "a long press")
        page.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1)
        check(page.evaluate("location.hash").startswith("#5/"), "a long press does not zoom")
        page.key("Escape")
        page.evaluate("document.getElementById('panel-open').click()")
        page.wait("!document.getElementById('details').hidden", "the arrow")
        # New data renew it, and it closes when nothing of it passes.
        client.call("SourceService/UpdateFeatures", source="shops", remove=list(range(171, 181)))
        page.wait(f"{text}.includes('Cluster of 170 points')", "the cluster of the new data")
        page.key("Escape")
        page.evaluate("document.getElementById('map').focus()")
        page.evaluate(f"{MARKERS}[0].focus()")
        page.key("Enter")
        page.wait(f"{text}.includes('Cluster of 170 points')", "Enter")
        page.wait("document.querySelectorAll('.leaves button').length > 0", "its points")
        page.evaluate("document.querySelector('.leaves button').click()")
        page.wait(f"{text}.includes('Back to the cluster')", "a point")
        apply_expression(page, '["==", ["get", "kind"], "none of them"]')
        page.wait("document.getElementById('details').hidden", "what passes no more is closed")
        check(page.evaluate("window.hacked") is None, "a script of the data has run")
        # The browser itself notes an answer about data that have changed meanwhile.
        scene.check_page(page, allowed=["status of 404", "status of 409"])
    finally:
        client.call("SourceService/DeleteSource", source="shops")


def uncovered(scene):
    """A panel never hides the circle that it is about; on a phone an applied filter's form makes room for the map."""
    for size, edge in ((DESKTOP, "x"), (PHONE, "y")):
        page = scene.open("/?source=cities#3/48/10", size)
        wait_for_view(scene, page, "cities", "circles")
        page.wait("document.getAnimations().length === 0", "everything is at rest")
        # The marker nearest to where the panel will be.
        page.evaluate(f"""{MARKERS}.filter((marker) => {{ const box = marker.getBoundingClientRect();
            return marker.textContent === "" && box.left > 0 && box.right < innerWidth && box.bottom < innerHeight && box.top > 150; }})
            .sort((one, other) => other.getBoundingClientRect().{edge} - one.getBoundingClientRect().{edge})[0].focus()""")
        page.key("Enter")
        page.wait("Boolean(document.querySelector('.marker.selected'))", "the marker is selected")
        page.wait("""(() => { const panel = document.getElementById("details").getBoundingClientRect();
            const box = document.querySelector(".marker.selected").getBoundingClientRect();
            const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
            return panel.width && !(x > panel.left && x < panel.right && y > panel.top && y < panel.bottom); })()""", "the panel is beside its circle")
        page.key("Escape")
        apply_expression(page, '[">",["get","population"],5000000]')
        page.wait("!document.getElementById('filter-chips').hidden", "the filter is applied")
        is_open = page.evaluate("!document.getElementById('filter-form').hidden")
        check(is_open == (size == DESKTOP), f"the form is open: {is_open}")
        scene.check_page(page)
        page.close()
    # So does the panel of a row of the table, whose point may lie anywhere.
    page = scene.open("/?source=cities#4/40/0")
    wait_for_view(scene, page, "cities", "circles")
    page.evaluate("document.getElementById('table-open').click()")
    page.wait("document.querySelectorAll('#table tbody .open').length > 5 && document.getAnimations().length === 0", "the table")
    name = page.evaluate(f"""{MARKERS}.filter((marker) => {{ const box = marker.getBoundingClientRect();
        return !marker.marker.feature.properties.cluster && box.x > innerWidth - 300 && box.x < innerWidth - 130 && box.y > 110 && box.y < 260; }})[0]
        ?.marker.feature.properties.name""")
    check(name, "no point lies where the panel will be, so this view tests nothing")
    page.evaluate(f"[...document.querySelectorAll('#table tbody tr')].find((row) => row.innerText.includes({json.dumps(name)})).querySelector('.open').click()")
    page.wait("""(() => { const panel = document.getElementById("details").getBoundingClientRect();
        const box = document.querySelector(".chosen").getBoundingClientRect();
        return box.width && panel.width && box.right < panel.left; })()""", "the point's ring is beside the panel")
    scene.check_page(page)


def world(scene):
    """On a small screen, held either way, the whole world can be seen, in both themes; the lowest zoom comes back after a reload."""
    everything = names(scene.get("/sources/cities/clusters", zoom=0)["features"])
    for size, dark in ((PHONE, False), (PHONE, True), (PHONE[::-1], False)):
        page = scene.open("/?source=cities#1/30/10", size, dark=dark)
        for start in ("#0/", "#-"):
            page.evaluate("document.querySelector('.leaflet-control-zoom-out').click()")
            page.wait(f"location.hash.startsWith('{start}')", f"a zoom that begins with {start}")
        wait_for_names(page, everything, f"the whole world at {size}")
        page.wait("document.getElementById('counts').textContent.includes('(505 of 505 points)')", "all points")
        outside = page.evaluate(f"""(() => {{ const map = document.getElementById('map').getBoundingClientRect();
            return {MARKERS}.map((marker) => marker.getBoundingClientRect()).map((box) => [box.x + box.width / 2, box.y + box.height / 2])
                .filter(([x, y]) => x < map.left || x > map.right || y < map.top || y > map.bottom); }})()""")
        check(not outside, f"outside of the map at {size}: {outside}")
        page.wait("document.querySelectorAll('canvas.leaflet-tile-loaded').length > 0", "the ground")
        lowest = page.evaluate("location.hash.split('/')[0]")
        page.call("Page.reload")
        page.wait(f"{LIVE} && location.hash.startsWith({json.dumps(lowest + '/')})", "the same zoom after a reload")
        wait_for_names(page, everything, "the same circles after a reload")
        page.evaluate("document.querySelector('.leaflet-control-zoom-in').click()")
        page.wait("location.hash.startsWith('#0/')", "a step up leads to zoom 0")
        page.evaluate("document.getElementById('home').click()")
        page.wait("location.hash.startsWith('#-')", "the whole source needs the lowest zoom")
        page.wait("document.getElementById('counts').textContent.includes('(505 of 505 points)')", "the counts after the zoom")
        scene.check_page(page)
        page.close()


def hint(scene):
    """A circle says what can be done with it: to the pointer, to the keyboard, and to a finger that taps it."""
    page = scene.open("/?source=cities#3/48/10")
    wait_for_view(scene, page, "cities", "circles")
    x, y, label = middle_of(page, "marker.marker.feature.properties.cluster")
    page.hover(x, y)
    card = "document.querySelector('.hint')"
    text = page.wait(f"{card}?.innerText", "the hint of a circle")
    check(text.split("\n")[0] == label[len("Cluster of "):] and "Shift-click to look inside" in text, f"{label}: {text}")
    covered = page.evaluate(f"document.elementFromPoint({x}, {y}).closest('.marker')?.getAttribute('aria-label')")
    check(covered == label, f"over the circle is {covered}")
    page.hover(5, 5)
    page.wait(f"!{card}", "no hint")
    page.evaluate("document.getElementById('map').focus()")
    page.key("Tab")
    page.wait(f"{card}?.innerText.includes('Enter to look inside')", "the hint for the keyboard")
    page.key("Enter")
    page.wait(f"!{card} && !document.getElementById('details').hidden", "the panel in its place")
    page.key("Escape")
    x, y, _ = middle_of(page, "marker.classList.contains('point')")
    page.hover(x, y)
    page.wait("document.querySelector('.hovered.point') !== null", "a point is hovered over")
    page.evaluate("new Promise((resolve) => setTimeout(resolve, 600))")
    check(page.evaluate(f"!{card}"), "a point needs no hint")
    scene.check_page(page)
    page.close()

    page = scene.open("/?source=cities#2/48/10", PHONE)
    page.call("Emulation.setTouchEmulationEnabled", enabled=True)
    told = "!document.getElementById('toast').hidden && document.getElementById('toast').textContent.includes('Hold a circle')"

    def touch(milliseconds):
        wait_for_view(scene, page, "cities", "circles")
        x, y, _ = middle_of(page, "marker.marker.feature.properties.cluster")
        page.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        page.evaluate(f"new Promise((resolve) => setTimeout(resolve, {milliseconds}))")
        page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    touch(50)
    page.wait(told, "what a finger can do")
    page.evaluate("document.getElementById('toast').hidden = true")
    page.wait("!location.hash.startsWith('#2/')", "the tap zooms in")
    page.evaluate("location.hash = '#2/48/10'")
    page.wait("location.hash.startsWith('#2/48')", "moved back")
    touch(700)
    page.wait("!document.getElementById('details').hidden", "the panel of a circle that is held")
    page.key("Escape")
    page.evaluate("location.hash = '#2/40/10'")
    page.wait("location.hash.startsWith('#2/40')", "moved again")
    touch(50)
    page.wait("!location.hash.startsWith('#2/')", "another tap zooms in")
    check(not page.evaluate(told), "who has held a circle is not shown the hint again")
    page.evaluate("localStorage.clear()")
    scene.check_page(page)


def aside(scene):
    """A map that was moved for a panel moves back when it is closed, unless somebody has moved it meanwhile."""
    for size, view, edge in ((DESKTOP, "3/48/10", "x"), (PHONE, "3/48/10", "y"), (PHONE, "-0.4/0/0", "y")):
        page = scene.open(f"/?source=cities#{view}", size)
        wait_for_view(scene, page, "cities", "circles")
        page.wait("document.getAnimations().length === 0", "everything is at rest")
        before = page.evaluate("location.hash")
        last = f"""{MARKERS}.filter((marker) => {{ const box = marker.getBoundingClientRect();
            return marker.marker.feature.properties.cluster && box.left > 0 && box.right < innerWidth && box.bottom < innerHeight; }})
            .sort((one, other) => other.getBoundingClientRect().{edge} - one.getBoundingClientRect().{edge})[0].focus()"""
        rest = "!document.querySelector('.leaflet-pan-anim')"
        page.evaluate(last)
        page.key("Enter")
        page.wait(f"location.hash !== {json.dumps(before)} && {rest}", "moved aside")
        beside = """(() => { const panel = document.getElementById("details").getBoundingClientRect();
            const box = document.querySelector(".marker.selected").getBoundingClientRect();
            return box.right < panel.left || box.bottom < panel.top; })()"""
        page.wait(beside, "the circle is beside the panel")
        page.key("Escape")
        page.wait(f"location.hash === {json.dumps(before)}", "back where it was")
        page.wait(rest, "everything is at rest")
        page.evaluate(last)
        page.key("Enter")
        page.wait(f"location.hash !== {json.dumps(before)} && {rest}", "moved aside again")
        page.evaluate("document.getElementById('map').focus()")
        page.key("+")
        zoom = "Number(location.hash.slice(1).split('/')[0])"
        page.wait(f"{zoom} > {view.split('/')[0]} && {rest}", "somebody zooms")
        page.key("Escape")
        page.wait("document.getElementById('details').hidden", "closed")
        page.evaluate("new Promise((resolve) => setTimeout(resolve, 600))")
        check(page.evaluate(f"{zoom} > {view.split('/')[0]} && location.hash !== {json.dumps(before)}"), "the map moves back though somebody has moved it")
        scene.check_page(page)
        page.close()


def apply_expression(page, text):
    page.evaluate("document.getElementById('filter-form').hidden && document.getElementById('filter-open').click()")
    page.evaluate("document.getElementById('filter-mode').checked || document.getElementById('filter-mode').click()")
    page.evaluate("document.getElementById('filter').select()")
    page.write(text)
    page.key("Enter")


def conditions(scene):
    """Conditions on the source's own properties make the filter, several at once, and come back from the address."""
    page = scene.open("/?source=cities#2/30/10")
    wait_for_view(scene, page, "cities", "circles")
    page.wait("document.getElementById('colour').options.length > 1", "the source's properties")
    page.evaluate("document.getElementById('filter-open').click()")
    placeholder = json.loads(page.evaluate("document.getElementById('filter').placeholder"))
    check(placeholder[:2] == [">=", ["get", "population"]], f"an example of this source: {placeholder}")
    choose = """(index, property, operator, values) => {
        const row = document.querySelectorAll('.condition')[index];
        const [first, second] = row.querySelectorAll('select');
        const set = (field, value) => { field.value = value; field.dispatchEvent(new Event('change')); };
        set(first, property); set(second, operator);
        const fields = row.querySelectorAll('.value input');
        values.forEach((value, place) => { fields[place].value = value; });
        return [...second.options].map((option) => option.value);
    }"""
    offered = page.evaluate(f"({choose})(0, 'population', 'between', ['2000000', '9000000'])")
    check(offered[0] == "between", offered)
    page.evaluate("document.getElementById('condition-add').click()")
    proposed = page.evaluate("document.querySelectorAll('.condition')[1].querySelector('select').value")
    check(proposed != "population", "the second condition begins with the first one's property")
    page.evaluate(f"({choose})(1, 'name', 'contains', ['AN'])")
    page.evaluate("document.querySelector('#filter-form [type=submit]').click()")
    page.wait("location.search.includes('filter')", "the filter in the address")
    expression = page.evaluate("new URLSearchParams(location.search).get('filter')")
    cities = [feature["properties"] for feature in scene.get("/sources/cities/clusters", zoom=25)["features"]]
    wanted = sum(2e6 <= city["population"] <= 9e6 and "an" in city["name"].lower() for city in cities)
    wait_for_view(scene, page, "cities", "what passes", filter=expression)
    found = len(scene.get("/sources/cities/clusters", zoom=25, filter=expression)["features"])
    check(found == wanted and wanted > 5, f"{found} pass, not {wanted}")
    page.evaluate("location.hash = '0/20/0'")
    page.wait(f"document.getElementById('counts').textContent.includes('({found} points in all)')", "the number of points that pass")
    chips = page.evaluate("[...document.querySelectorAll('.chip span')].map((chip) => chip.textContent)")
    check(chips == ["population between 2,000,000 and 9,000,000", "name contains an"], f"in words: {chips}")
    page.call("Page.reload")
    page.wait(f"{LIVE} && document.querySelectorAll('.condition').length === 2", "the conditions after a reload")
    check(wait_for_view(scene, page, "cities", "the same circles", filter=expression), "some pass")
    page.evaluate("document.querySelectorAll('.chip button')[1].click()")
    page.wait("document.querySelectorAll('.chip').length === 1", "one condition less")
    page.evaluate("document.getElementById('filter-mode').click()")
    check(page.evaluate("JSON.parse(document.getElementById('filter').value)[0]") == "all", "the conditions as an expression")
    apply_expression(page, '["<=", ["get", "population"], 900000]')
    page.wait("document.querySelector('.chip')?.textContent.startsWith('population at most 900,000')", "the expression is applied")
    check(page.evaluate("document.getElementById('filter-mode').checked"), "who applies an expression is led back to the conditions")
    page.evaluate("document.getElementById('filter-clear').click()")
    wait_for_view(scene, page, "cities", "everything")
    check(not page.evaluate("document.getElementById('filter-mode').checked"), "a cleared filter begins with conditions")
    scene.check_page(page)


def colours(scene):
    """Circles show the shares of a property's values, points their colour, the legend says which."""
    page = scene.open("/?source=cities#3/48/10")
    wait_for_view(scene, page, "cities", "circles")
    page.wait("[...document.getElementById('colour').options].some((option) => option.value === 'country')", "a property")
    page.evaluate("document.getElementById('colour').value = 'country'; document.getElementById('colour').dispatchEvent(new Event('change'))")
    page.wait("document.querySelectorAll('.core.ring').length > 5 && document.querySelectorAll('.core:not([hidden]):not(.ring)').length === 0", "rings")
    check("colour=country" in page.evaluate("location.search"), "the colours in the address")
    legend = page.evaluate("document.getElementById('legend').innerText").split("\n")
    check(legend[0] == "country" and "other" in legend and len(legend) > 9, f"the legend: {legend}")
    # The ring of a cluster has the shares of its leaves.
    found = page.evaluate(f"""{MARKERS}.filter((marker) => marker.marker.feature.properties.cluster).map((marker) => ({{
        id: marker.marker.feature.properties.cluster_id, ring: marker.style.background, label: marker.getAttribute('aria-label') }}))""")
    for circle in found[:8]:
        leaves = scene.get(f"/sources/cities/clusters/{circle['id']}/leaves", limit=0)["features"]
        countries = [leaf["properties"]["country"] for leaf in leaves]
        named = {country: countries.count(country) for country in countries if country in legend}
        named["other"] = len(countries) - sum(named.values())
        best = max(named.values())
        names = [name for name, count in named.items() if count == best]
        check(any(f"{round(100 * best / len(countries))} % {name}" in circle["label"] for name in names), f"{circle['label']}: {named}")
        check(circle["ring"].startswith("conic-gradient"), circle["ring"])
    page.evaluate("document.getElementById('colour').value = 'population'; document.getElementById('colour').dispatchEvent(new Event('change'))")
    page.wait("document.querySelectorAll('.core.ring').length === 0 && document.getElementById('legend').innerText.includes('no number')", "steps")
    page.call("Page.reload")
    page.wait(f"{LIVE} && document.getElementById('legend').innerText.startsWith('population')", "the colours after a reload")
    # Another filter's clusters have other ids: none of the old ones is asked for.
    painted = f"{MARKERS}.every((marker) => /mean|population/.test(marker.getAttribute('aria-label')))"
    page.wait(painted, "the mean of each circle")
    apply_expression(page, '[">", ["get", "population"], 2000000]')
    page.wait(f"document.querySelector('.chip') && {MARKERS}.length < 80 && {painted}", "the means of what passes")
    page.evaluate("document.querySelector('.chip button').click()")
    page.wait(f"!document.querySelector('.chip') && {painted}", "the means of everything")
    page.evaluate("new Promise((resolve) => setTimeout(resolve, 500))")
    scene.check_page(page)


def table(scene):
    """The table has the points in view, sorts them, follows the map, and saves what it has."""
    page = scene.open("/?source=cities#4/48/10", script=SAVED)
    wait_for_view(scene, page, "cities", "circles")
    page.key("t")
    page.wait("document.querySelectorAll('#table tbody tr').length > 20", "rows")
    page.evaluate("[...document.querySelectorAll('#table th button')].find((head) => head.textContent === 'population').click()")
    rows = "[...document.querySelectorAll('#table tbody tr')].map((row) => row.innerText.split('\t'))"
    order = "document.querySelector('#table th[aria-sort=descending]')?.innerText"
    page.wait(f"({order} ?? '').startsWith('population')", "the order")
    zoom, latitude, longitude = page.evaluate("location.hash.slice(1)").split("/")
    size = page.evaluate("[document.getElementById('map').clientWidth, document.getElementById('map').clientHeight]")
    check(size[1] < 550, f"the map ends above the table: {size}")
    numbers = [int(row[3].replace(",", "")) for row in page.evaluate(rows)]
    check(numbers == sorted(numbers, reverse=True) and numbers[0] > 10_000_000, f"sorted: {numbers[:5]}")
    before = page.evaluate("document.querySelector('#table .note').textContent")
    page.evaluate("document.getElementById('map').focus()")
    page.key("+")
    page.wait(f"document.querySelector('#table .note').textContent !== {json.dumps(before)}", "the table follows the map")
    count = int(page.evaluate("document.querySelector('#table .note').textContent").split()[0])
    page.evaluate("[...document.querySelectorAll('.table-tools button')].filter((button) => /CSV|GeoJSON/.test(button.textContent)).forEach((button) => button.click())")
    page.wait("window.saved?.length === 2", "two files")
    csv, geojson = page.evaluate("Promise.all(window.saved.map((blob) => blob.text()))")
    check(len(csv.strip().split("\r\n")) == count + 1, f"{csv[:80]}")
    check(len(json.loads(geojson)["features"]) == count, "the points of the GeoJSON")
    check(page.evaluate("document.getElementById('toast').hidden"), "nothing is said of files that have all points in view")
    sides = page.evaluate("['th', 'td'].map((cell) => getComputedStyle(document.querySelector(`#table ${cell}.number`)).textAlign)")
    check(sides == ["right", "right"], f"numbers and the heads of their columns are aligned {sides}")
    page.evaluate("document.querySelector('#table tbody .open').click()")
    page.wait("document.getElementById('details').innerText.includes('population')", "a row's panel")
    scene.check_page(page)
    page = scene.open("/?source=cities#3/48/10", PHONE)
    page.evaluate("document.getElementById('table-open').click()")
    page.wait("document.querySelectorAll('#table tbody tr').length > 5", "rows on a phone")
    page.evaluate("document.querySelector('#table .note').textContent = '20,000 points of 70,241: zoom in or filter for the others'")
    height = page.evaluate("document.querySelector('.table-tools').offsetHeight")
    check(height < 90, f"the table's title is {height} pixels high on a phone")


# What the page saves as files.
SAVED = """
window.saved = [];
const makeURL = URL.createObjectURL;
URL.createObjectURL = (blob) => { window.saved.push(blob); return makeURL.call(URL, blob); };
"""


def search(scene):
    """A text finds points wherever they are; Enter leads to the best of them; the link is copied."""
    page = scene.open("/?source=cities#5/0/-150")
    page.wait("document.getElementById('colour').options.length > 1", "the source's properties")
    page.key("s")
    check(page.evaluate("document.activeElement.id") == "search", "S leads to the search")
    page.write("tokyo")
    page.wait("document.querySelectorAll('#search-results button').length > 0", "results")
    first = page.evaluate("document.querySelector('#search-results button').innerText")
    check(first.startswith("Tokyo"), first)
    page.key("Enter")
    page.wait("document.getElementById('details').innerText.startsWith('Tokyo')", "Tokyo's panel")
    page.wait("location.hash.split('/')[1].startsWith('35.6') && Number(location.hash.slice(1).split('/')[0]) >= 5", "the map is there")
    page.wait(f"{MARKERS}.some((marker) => marker.getAttribute('aria-label') === 'Tokyo')", "Tokyo by itself")
    page.evaluate("document.getElementById('search').select()")
    page.write("no such place")
    page.wait("document.getElementById('search-results').innerText.includes('Nothing contains')", "nothing found")
    # Enter before the answer is there leads to the first that is found.
    page.evaluate("document.getElementById('search').select()")
    page.write("lisbon")
    page.key("Enter")
    page.wait("document.getElementById('details').innerText.startsWith('Lisbon')", "Lisbon's panel")
    page.browser.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"], origin=scene.base)
    page.evaluate("document.getElementById('link').click()")
    page.wait("!document.getElementById('toast').hidden", "the link is copied or shown")
    scene.check_page(page)


def ground(scene):
    """The ground is drawn from the daemon's tiles, is sharp at a ratio of 2, and becomes a grid beyond zoom 8."""
    page = scene.open("/?source=cities#4/48/10", scale=2)
    drawn = "document.querySelectorAll('canvas.leaflet-tile-loaded').length"
    page.wait(f"{drawn} >= 6", "tiles")
    check(page.evaluate("document.querySelector('canvas.leaflet-tile').width") == 1024, "two pixels for one")
    check(any("/ground/4/" in url for url in page.requests), "tiles of the daemon")
    colours = """(() => { const counts = new Map(); const tile = document.querySelector('canvas.leaflet-tile-loaded');
        const data = tile.getContext('2d').getImageData(0, 0, tile.width, tile.height).data;
        for (let at = 0; at < data.length; at += 64) { const key = data.slice(at, at + 3).join(); counts.set(key, (counts.get(key) ?? 0) + 1); }
        return counts.size; })()"""
    check(page.evaluate(colours) > 3, "land, sea and lines")
    check("km" in page.evaluate("document.querySelector('.leaflet-control-scale').innerText"), "the scale")
    names = "(() => { const canvas = document.querySelector('.town-names'); return canvas.width && canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0); })()"
    page.wait(names, "names of towns")
    scene.check_page(page)
    page = scene.open("/?source=cities#11/48/10")
    page.wait(f"{drawn} >= 4", "the grid")
    check(page.evaluate(colours) >= 3, "lines and degrees")
    check(not any("/ground/11" in url for url in page.requests), "there are no tiles beyond the ground")
    scene.check_page(page)


def room(scene):
    """Among many circles no number is covered, and the corner has the daemon's time apart."""
    page = scene.open("/?source=cities#1/30/20", PHONE)
    wait_for_view(scene, page, "cities", "circles")
    page.wait("document.getAnimations().length === 0 && document.querySelectorAll('.core').length > 10", "at rest")
    overlaps = page.evaluate("""(() => {
        const cores = [...document.querySelectorAll('.core:not([hidden])')].map((core) => core.getBoundingClientRect())
            .map((box) => ({ x: box.x + box.width / 2, y: box.y + box.height / 2, radius: box.width / 2 }));
        return cores.flatMap((one, index) => cores.slice(index + 1).filter((other) =>
            Math.min(one.radius, other.radius) > 3 && Math.hypot(one.x - other.x, one.y - other.y) < one.radius + other.radius - 0.6)).length;
    })()""")
    check(overlaps == 0, f"{overlaps} cores cover others")
    text = page.wait("document.getElementById('answer').textContent", "the times")
    check("answered in" in text and "network" in text and "drawing" in text, text)
    scene.check_page(page)
    check_covered_number(scene)


def check_covered_number(scene):
    """A number under another circle is still its own circle's: a click on it opens that one, and a hover marks it."""
    client = scene.client()
    client.call("SourceService/CreateSource", source="covered")
    try:
        # At zoom 3 the first point draws the next 999 into its cluster, whose centre is then 21.5 pixels from the other 600.
        pixel = 360 / 512 / 2 ** 3
        columns = [0] + 999 * [39] + 600 * [60.5]
        client.call("SourceService/UpdateFeatures", source="covered", upsert=[
            {"type": "Feature", "id": number, "geometry": {"type": "Point", "coordinates": [column * pixel, 0]}, "properties": {}}
            for number, column in enumerate(columns, 1)])
        page = scene.open("/?source=covered#3/0/4")
        page.wait(f"{MARKERS}.length === 2", "two circles")
        page.wait("document.getAnimations().length === 0", "everything is at rest")
        x, y, top = page.evaluate(f"""(() => {{
            const box = {MARKERS}.find((marker) => marker.getAttribute("aria-label") === "Cluster of 1,000 points").getBoundingClientRect();
            const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
            return [x, y, document.elementFromPoint(x, y).getAttribute("aria-label")];
        }})()""")
        check(top == "Cluster of 600 points", f"over the number is {top}, so this view tests nothing")
        page.hover(x, y)
        page.wait("document.querySelector('.hovered')?.getAttribute('aria-label') === 'Cluster of 1,000 points'", "the hovered circle")
        for kind in ("mousePressed", "mouseReleased"):
            page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1, modifiers=8)
        page.wait("!document.getElementById('details').hidden", "a panel")
        opened = page.evaluate("document.querySelector('#details h2').textContent")
        check(opened == "Cluster of 1,000 points", f"a click on the number of 1,000 points opens: {opened}")
        scene.check_page(page)
    finally:
        client.call("SourceService/DeleteSource", source="covered")


@contextlib.contextmanager
def events(scene, **options):
    """A source whose points have a date, a rating and a kind, with two indexed properties: the cities, one each five days."""
    client = scene.client()
    with open(f"{ROOT}/Examples/cities.geojson", encoding="utf-8") as file:
        cities = json.load(file)["features"]
    first = datetime.date(2018, 1, 1)
    for number, city in enumerate(cities):
        date = first + datetime.timedelta(days=5 * (number * 211 % len(cities)))
        city["properties"] |= {"date": date.isoformat(), "rating": number * 7 % 101 / 20, "kind": ["cafe", "museum", "park"][number % 3]}
    indexed = {"time": ["to-timestamp", ["get", "date"]], "rating": ["get", "rating"]}
    client.call("SourceService/CreateSource", source="events", options={"indexedProperties": indexed, **options})
    try:
        client.call("SourceService/UpdateFeatures", source="events", upsert=cities)
        yield cities
    finally:
        client.call("SourceService/DeleteSource", source="events")


def middle(page, selector):
    return page.evaluate(f"""(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2, box.width]; }})()""")


def window_of(page):
    """The window in the address, as a query has it; None if it has no bound."""
    text = page.evaluate("new URLSearchParams(location.search).get('window')")
    return None if text is None or text.endswith(",,") else text


def wait_for_window(scene, page, what):
    """Waits until the page shows what GetClusters gives with the window that the address has."""
    def expected():
        window = window_of(page)
        return names(scene.expected(page, "events", **({"window": window} if window else {})))
    return wait_for_names(page, expected, what)


def check_one_at_a_time(page, before):
    """Of a watch, each item of the page was answered before the next."""
    kinds = [kind for kind, _ in page.sockets[before:]]
    check("Sent" in kinds, "no item was sent")
    check(all((one, other) != ("Sent", "Sent") for one, other in zip(kinds, kinds[1:])), f"items that did not wait for an answer: {kinds}")


def slider(scene):
    """The slider shows the points in a range, by keyboard, by pointer and by playing; its histogram follows the map."""
    page = scene.open("/?source=cities#3/48/10")
    check(page.evaluate("document.getElementById('slider-open').hidden && document.getElementById('top-open').hidden"), "a slider of nothing")
    page.close()
    with events(scene):
        page = scene.open("/?source=events#3/48/10")
        everything = wait_for_window(scene, page, "circles")
        page.key("w", "KeyW")
        page.wait("document.activeElement.getAttribute('role') === 'slider' && document.querySelector('.chart .part path')", "the first handle has the focus")
        output = "document.querySelector('#slider output').textContent"
        check(page.evaluate(output) == "all values", page.evaluate(output))
        ends = page.evaluate("[...document.querySelectorAll('.ends span')].map((end) => end.textContent)")
        check([ends[0], ends[2]] == ["1 Jan 2018", "25 Nov 2024"], f"the ends of the axis: {ends}")
        for _ in range(3):
            page.key("ArrowRight")
        first = page.wait("location.search.includes('window=time,1') && document.activeElement.getAttribute('aria-valuetext')", "a bound")
        check(first == "18 Mar 2018", f"three steps of a hundred lead to {first}")
        page.evaluate("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', shiftKey: true, bubbles: true }))")
        second = page.wait(f"document.activeElement.getAttribute('aria-valuetext') !== {json.dumps(first)} && document.activeElement.getAttribute('aria-valuetext')", "a larger step")
        check(second == "25 Nov 2018", f"thirteen steps lead to {second}")
        fewer = wait_for_window(scene, page, "circles of the window")
        check(fewer != everything and window_of(page), "the window leaves nothing out")

        # The end is dragged to the middle, and each item waits for the answer to the last one.
        x, y, width = middle(page, ".track")
        before = len(page.sockets)
        handle, _, _ = middle(page, ".handle:last-child")
        mouse = lambda kind, at, buttons=1: page.call("Input.dispatchMouseEvent", type=kind, x=at, y=y, button="left", buttons=buttons, clickCount=1)
        mouse("mousePressed", handle)
        for step in range(1, 26):
            mouse("mouseMoved", handle + (x - handle) * step / 25)
        mouse("mouseReleased", x, 0)
        page.wait("!location.search.includes(',&') && new URLSearchParams(location.search).get('window').split(',')[2]", "an end")
        wait_for_window(scene, page, "circles of the dragged window")
        check_one_at_a_time(page, before)
        kept, text = page.evaluate("location.href"), page.evaluate(output)
        page.call("Page.reload")
        page.wait(f"{LIVE} && {output} === {json.dumps(text)}", "the same range after a reload")
        wait_for_window(scene, page, "the same circles after a reload")
        check(page.evaluate("location.href") == kept, "the address is the same")

        # The histogram is that of what is in view.
        title = "document.querySelector('#slider .chart').title"
        everywhere = page.wait(f"{title} && {title}", "the histogram's number")
        page.evaluate("location.hash = '#5/36/138'")
        page.wait(f"{title} !== {json.dumps(everywhere)}", "the histogram follows the map")
        west, south, east, north = scene.box(page)
        number = sum(scene.get("/sources/events/histogram", property="time", bins=1, bbox=f"{west},{south},{east},{north}")["counts"])
        page.wait(f"{title} === '{number} values in view'", f"the {number} values in view")

        before = len(page.sockets)
        page.evaluate("document.querySelector('#slider .play').click()")
        page.wait(f"{output} !== {json.dumps(text)}", "playing moves the range")
        check(page.evaluate("document.querySelector('#slider .play').getAttribute('aria-label')") == "Pause", "the button pauses")
        page.key("p", "KeyP")
        wait_for_window(scene, page, "circles after playing")
        check_one_at_a_time(page, before)
        page.evaluate("document.querySelector('.handle').focus()")
        page.key("Escape")
        page.wait("document.getElementById('slider').hidden && !location.search.includes('window')", "Escape closes the slider")
        wait_for_window(scene, page, "all circles again")
        scene.check_page(page)
        page.close()

        page = scene.open("/?source=events&window=rating,1,4&top=rating#2/48/10", PHONE)
        page.wait("document.querySelector('.chart .part path') && document.querySelectorAll('.top-list li').length > 5", "slider and list on a phone")
        wait_for_window(scene, page, "circles of a window of numbers")
        check(page.evaluate(output) == "1 – 4", page.evaluate(output))
        outside = page.evaluate("""[...document.querySelectorAll("#slider, #slider button, #slider select, .track, #side .tools button, #top, #status")].filter((part) => {
            const box = part.getBoundingClientRect();
            return box.width && (box.left < 0 || box.right > innerWidth || box.top < 0 || box.bottom > innerHeight); }).map((part) => part.outerHTML.slice(0, 80))""")
        check(not outside, f"outside of a phone: {outside}")
        x, y, width = middle(page, ".handle")
        touch = lambda kind, *points: page.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y} for x, y in points])
        touch("touchStart", (x, y))
        for step in range(1, 11):
            touch("touchMove", (x + 5 * step, y))
        touch("touchEnd")
        page.wait(f"{output} !== '1 – 4'", "a finger drags a handle")
        wait_for_window(scene, page, "circles of the finger's window")
        scene.check_page(page)


def top(scene):
    """The list has the top points in view, in either order; one that is chosen is never part of a circle again."""
    with events(scene):
        page = scene.open("/?source=events#2/48/10")
        wait_for_window(scene, page, "circles")
        listed = "[...document.querySelectorAll('.top-list b')].map((name) => name.textContent)"

        def wait_for_list(by, what):
            west, south, east, north = scene.box(page)
            found = scene.get("/sources/events/top", by=by, bbox=f"{west},{south},{east},{north}", limit=20)["features"]
            wanted = [feature["properties"]["name"] for feature in found]
            check(len(wanted) > 3, f"{what}: only {wanted}")
            page.wait(f"JSON.stringify({listed}) === {json.dumps(json.dumps(wanted, ensure_ascii=False, separators=(',', ':')))}", what)
            return found

        page.key("l", "KeyL")
        wait_for_list("time", "the latest first")
        page.evaluate("""(() => { const select = document.querySelector("#top select"); select.value = "rating"; select.dispatchEvent(new Event("change")); })()""")
        wait_for_list("rating", "the best rated")
        page.evaluate("document.querySelector('#top .row button').click()")
        wait_for_list("-rating", "the worst rated")
        page.evaluate("location.hash = '#4/48/10'")
        page.wait("location.hash.startsWith('#4/')", "moved")
        found = wait_for_list("-rating", "the worst rated of what is in view now")[2]
        page.evaluate("document.querySelectorAll('.top-list button')[2].click()")
        name = found["properties"]["name"]
        pinned = "document.querySelector('.marker.pinned:not(.leaving)')?.getAttribute('aria-label')"
        page.wait(f"{pinned} === {json.dumps(name)}", f"{name} is pinned")
        check(name in page.evaluate("document.getElementById('details').innerText"), "its panel")
        page.evaluate("document.querySelector('#details .close').click()")
        for view in ("0/30/10", "1/48/10"):
            page.evaluate(f"location.hash = '#{view}'")
            page.wait(f"location.hash.startsWith('#{view[0]}')", "moved")
            wait_for_names(page, lambda: names(scene.expected(page, "events", pin=found["id"])), f"circles without the pinned point at {view}")
            check(page.evaluate(pinned) == name, f"at {view} the point has gone")
            page.wait("document.getAnimations().length === 0", "everything is at rest")
            x, y, _ = middle(page, ".marker.pinned")
            check(page.evaluate(f"document.elementFromPoint({x}, {y}).classList.contains('pinned')"), f"at {view} the point is covered")
        page.call("Page.reload")
        page.wait(f"{LIVE} && {pinned} === {json.dumps(name)}", "the point is pinned after a reload")
        check("top=-rating" in page.evaluate("location.search"), "the list is in the address")
        page.evaluate("document.getElementById('map').focus()")
        page.key("Escape")
        page.wait(f"!{pinned} && !location.search.includes('pin=')", "Escape lets it go")
        wait_for_window(scene, page, "circles with all points")
        scene.check_page(page)


def density(scene):
    """Squares are coloured by how many points they have, in a window those of the window; the legend says how many."""
    with events(scene):
        page = scene.open("/?source=events&window=rating,2,#2/30/10")
        page.wait("document.querySelector('.chart .part path')", "the slider")
        page.key("d", "KeyD")
        page.wait("document.querySelectorAll('#density-legend li').length > 1", "the legend")
        west, south, east, north = scene.box(page)
        cells = scene.get("/sources/events/grid", bbox=f"{west},{south},{east},{north}", resolution=7, window="rating,2,")["cells"]
        most = max(cells, key=lambda cell: cell["point_count"])
        last = page.evaluate("[...document.querySelectorAll('#density-legend li')].at(-1).textContent")
        check(last.split()[-1] == str(most["point_count"]), f"the last step is {last}, the most in a square {most['point_count']}")
        # The middle of a square, by its place on the screen.
        side = 512 * 2 ** 2
        zoom, latitude, longitude = map(float, page.evaluate("location.hash.slice(1)").split("/"))
        sine = math.sin(math.radians(latitude))
        middle_x, middle_y = (longitude / 360 + 0.5) * side, (0.5 - 0.25 * math.log((1 + sine) / (1 - sine)) / math.pi) * side
        width, height = page.evaluate("[document.getElementById('map').clientWidth, document.getElementById('map').clientHeight]")

        def colour(x, y):
            left, top = (x + 0.5) * side / 128 - middle_x + width / 2, (y + 0.5) * side / 128 - middle_y + height / 2
            return page.evaluate(f"[...document.querySelector('canvas.density').getContext('2d').getImageData({left}, {top}, 1, 1).data].join()")

        shade = page.evaluate("getComputedStyle([...document.querySelectorAll('#density-legend .swatch')].at(-1)).backgroundColor")
        check(colour(most["x"], most["y"]).split(",")[:3] == shade[4:-1].replace(" ", "").split(","), f"the densest square is {colour(most['x'], most['y'])}, not {shade}")
        known = {(cell["x"], cell["y"]) for cell in cells}
        empty = next((x, most["y"]) for x in range(most["x"], most["x"] + 20) if (x, most["y"]) not in known)
        check(colour(*empty) == "0,0,0,0", f"an empty square is {colour(*empty)}")
        page.call("Page.reload")
        page.wait(f"{LIVE} && document.getElementById('density').getAttribute('aria-pressed') === 'true'", "density is in the address")
        page.wait("document.querySelectorAll('#density-legend li').length > 1", "the legend after a reload")
        page.key("d", "KeyD")
        page.wait("!document.querySelector('canvas.density') && document.getElementById('density-legend').hidden", "no density")
        wait_for_window(scene, page, "circles again")
        scene.check_page(page)


def variants(scene):
    """A source's views can be chosen, and the address keeps which; colours come from partitions."""
    with events(scene, views={"wide": {"radius": 120}, "kinds": {"partitionBy": ["get", "kind"], "filter": ["!=", ["get", "kind"], "park"]}}):
        page = scene.open("/?source=events#3/48/10")
        wait_for_view(scene, page, "events", "circles of the source")
        choices = page.evaluate("[...document.getElementById('variant').options].map((option) => option.value)")
        check(choices == ["", "wide", "kinds"], f"views: {choices}")
        choose = "(() => { const select = document.getElementById(%s); select.value = %s; select.dispatchEvent(new Event('change')); })()"
        page.evaluate(choose % ("'variant'", "'wide'"))
        wait_for_view(scene, page, "events:wide", "circles of the view")
        check("view=wide" in page.evaluate("location.search"), "the view is in the address")
        page.evaluate("history.back()")
        wait_for_view(scene, page, "events", "circles of the source again")
        page.close()
        page = scene.open("/?source=events&view=kinds&colour=kind&window=time,1560000000000,#3/48/10")
        page.wait("document.querySelector('.chart .part path') && document.querySelector('.core.ring')", "coloured circles")
        wanted = sorted((feature["properties"]["partition"], feature["properties"]["point_count"])
                        for feature in scene.expected(page, "events:kinds", window="time,1560000000000,") if feature["properties"].get("cluster"))
        found = page.evaluate(f"{MARKERS}.map((marker) => marker.getAttribute('aria-label')).filter((label) => label.startsWith('Cluster'))")
        labels = sorted(f"Cluster of {number} point{'' if number == 1 else 's'}, 100 % {kind}" for kind, number in wanted)
        check(sorted(found) == labels, f"{sorted(found)[:4]}…, not {labels[:4]}…")
        scene.check_page(page)


def frames(scene, number=500):
    """How many frames a second there are while many markers move; reported, since it depends on the machine."""
    page = scene.open("/?source=cities#3/48/10", script=SCRIPTED_SOCKET)
    page.wait("window.sockets?.length === 1", "a watch")
    result = page.evaluate(f"""(async () => {{
        const feature = (index, shift) => ({{ type: "Feature", id: index, key: "k" + index,
            geometry: {{ type: "Point", coordinates: [-20 + (index % 25) * 2.4 + shift, 34 + Math.floor(index / 25) * 1.2] }},
            properties: {{ cluster: true, cluster_id: index, point_count: 2 + index, point_count_abbreviated: 2 + index }} }});
        const all = (shift) => Array.from({{ length: {number} }}, (_, index) => feature(index, shift));
        const send = (item) => sockets[0].onmessage({{ data: JSON.stringify(item) }});
        send({{ add: all(0), update: [], remove: [], keep: 0, revision: 1 }});
        await new Promise((resolve) => setTimeout(resolve, 1000));
        const times = [];
        for (let round = 0; round < 5; round += 1) {{
            send({{ add: [], update: all(round % 2 ? 0 : 4), remove: [], keep: 0, revision: 2 + round }});
            const end = performance.now() + 300;
            let last = performance.now();
            while (last < end) {{
                const now = await new Promise(requestAnimationFrame);
                if (now > last) times.push(now - last);
                last = Math.max(now, last);
            }}
            await new Promise((resolve) => setTimeout(resolve, 200));
        }}
        times.sort((one, other) => one - other);
        const sum = times.reduce((total, time) => total + time, 0);
        return {{ frames: times.length, rate: 1000 * times.length / sum, median: times[times.length >> 1], worst: times.at(-1) }};
    }})()""")
    check(result["frames"] > 0, "no frame was drawn")
    print(f"{number} moving markers: {result['rate']:.0f} frames a second, median {result['median']:.1f} ms, longest {result['worst']:.0f} ms", flush=True)
    check(page.evaluate(f"{MARKERS}.length") == number, "all markers are there")


def drag(scene, seconds=5):
    """How many answers a second there are while the slider plays over the largest source that has indexed properties; reported,
    since it depends on the machine. Without such a source nothing is measured."""
    sources = [source for source in scene.get("/sources")["sources"] if source["options"].get("indexedProperties")]
    if not sources:
        return print("no source has indexed properties: nothing is measured", flush=True)
    source = max(sources, key=lambda source: source["points"])
    name = next(iter(source["options"]["indexedProperties"]))
    page = scene.open(f"/?source={source['source']}&window={name},,", script=TIMED_SOCKET)
    page.wait("document.querySelector('.chart .part path')", "the slider")
    page.evaluate("document.querySelector('#slider .play').click()")
    page.evaluate("new Promise((resolve) => setTimeout(resolve, 1000))")
    page.evaluate("void (window.answers = [])")
    page.evaluate(f"new Promise((resolve) => setTimeout(resolve, {1000 * seconds}))")
    answers = sorted(page.evaluate("answers"))
    check(answers, "nothing was answered")
    print(f"{source['points']:,} points: {len(answers) / seconds:.0f} answers a second, median {answers[len(answers) // 2]:.1f} ms, "
          f"p95 {answers[len(answers) * 95 // 100]:.1f} ms", flush=True)


# A WebSocket that notes how long each item took.
TIMED_SOCKET = """
window.answers = [];
window.WebSocket = class extends WebSocket {
    constructor(url) {
        super(url);
        this.addEventListener("message", () => {
            if (this.sentAt !== undefined) answers.push(performance.now() - this.sentAt);
            this.sentAt = undefined;
        });
    }
    send(text) {
        this.sentAt = performance.now();
        super.send(text);
    }
};
"""

# A WebSocket whose messages the test sends.
SCRIPTED_SOCKET = """
window.sockets = [];
window.WebSocket = class {
    static OPEN = 1;
    readyState = 1;
    sent = [];
    constructor(url) {
        this.url = url;
        sockets.push(this);
        const item = { add: [], update: [], remove: [], keep: 0, revision: 0 };
        setTimeout(() => this.onmessage({ data: JSON.stringify(item) }));
    }
    send(text) { this.sent.push(text); }
    close() {}
};
"""

SCENARIOS = (circles, click, hover, filter, live, gone, address, framed, themes, sizes, keyboard, fan, plane, motion, panel, conditions, colours, table, search, ground, room, uncovered, world, hint, aside, slider, top, density, variants, frames, drag)


def main():
    base, socket, *chosen = sys.argv[1:]
    failed = False
    with Browser() as browser:
        for scenario in SCENARIOS:
            if chosen and scenario.__name__ not in chosen:
                continue
            scene = Scene(browser, base, socket)
            try:
                scenario(scene)
                print(f"ok {scenario.__name__}", flush=True)
            except Exception as error:
                failed = True
                problems = [problem for page in scene.open_pages for problem in page.problems]
                place = traceback.extract_tb(error.__traceback__)[1:2]
                print(f"FAILED {scenario.__name__}: {str(error)[:600]} (line {place[0].lineno if place else '?'}) {problems[:1]}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
