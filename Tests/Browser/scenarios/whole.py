# SPDX-License-Identifier: MIT
"""The page as a whole: its address, its looks, its keys, its panel, the ground below the markers."""
import http.server, json, threading, urllib.parse

from scene import apply_expression, check, DESKTOP, LIVE, MARKERS, middle_of, names, PHONE, shown, wait_for_names, wait_for_view


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
