# SPDX-License-Identifier: MIT
"""An opened map page, the daemon behind it, and how a scenario looks at both."""
import json, math, os, sys, urllib.parse, urllib.request

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, f"{ROOT}/Examples")
from clusterd_client import Client
from devtools import Failure

DESKTOP, PHONE = (1280, 800), (390, 844)
LIVE = "document.documentElement.dataset.state === 'live'"
MARKERS = "[...document.querySelectorAll('.marker-pane .marker:not(.leaving)')]"

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


def middle(page, selector):
    return page.evaluate(f"""(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2, box.width]; }})()""")


def apply_expression(page, text):
    page.evaluate("document.getElementById('filter-form').hidden && document.getElementById('filter-open').click()")
    page.evaluate("document.getElementById('filter-mode').checked || document.getElementById('filter-mode').click()")
    page.evaluate("document.getElementById('filter').select()")
    page.write(text)
    page.key("Enter")
