# SPDX-License-Identifier: MIT
"""What a source with indexed properties and views offers."""
import contextlib, datetime, json, math

from scene import check, LIVE, MARKERS, middle, names, PHONE, ROOT, wait_for_names, wait_for_view


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
