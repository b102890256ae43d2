# SPDX-License-Identifier: MIT
"""What stands above the map: filter, colours, table, search."""
import json

from scene import apply_expression, check, LIVE, MARKERS, names, PHONE, shown, wait_for_view


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
