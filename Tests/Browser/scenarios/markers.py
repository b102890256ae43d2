# SPDX-License-Identifier: MIT
"""The markers: what they show, what pointer and keyboard do with them, how they move."""
import json

from scene import check, DESKTOP, MARKERS, middle_of, PHONE, SCRIPTED_SOCKET, wait_for_names, wait_for_view


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
