# SPDX-License-Identifier: MIT
"""Answers in columns, read by other people's readers and compared with the JSON answers.

Usage: columns.py SOCKET PORT: the daemon has rules for the sources "ruled" and "counted", and no source yet.
Exits with 77 if pyarrow is not in .build/test-python.
"""
import gzip, http.client, io, json, os, random, socket, struct, subprocess, sys, urllib.parse, zlib

SOCKET, PORT = sys.argv[1], int(sys.argv[2])
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.build/test-python"))
try:
    import pyarrow as pa
    import pyarrow.ipc
except ImportError as error:
    print(error)
    sys.exit(77)

ARROW, GEOJSON = "application/vnd.apache.arrow.stream", "application/geo+json"
FIXED = ["longitude", "latitude", "id", "cluster_id", "point_count"]
WITHOUT_COLUMN = {"cluster", "cluster_id", "point_count", "point_count_abbreviated"}


class UnixConnection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(SOCKET)


def ask(path, method="GET", body=None, unix=False, status=200, **fields):
    connection = UnixConnection("localhost") if unix else http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in fields.items()})
    response = connection.getresponse()
    data = response.read()
    head = {name.lower(): value for name, value in response.getheaders()}
    connection.close()
    assert response.status == status, (method, path, response.status, data[:500])
    return head, data


def call(method, **params):
    fields = {"Content-Type": "application/json"}
    return json.loads(ask(f"/clusterd.v1.{method}", "POST", json.dumps(params), unix=True, **fields)[1])


def fill(source, lines, **options):
    call("SourceService/CreateSource", source=source, options=options)
    ask(f"/sources/{source}/features?mode=replace", "PUT", "\n".join(lines).encode(), unix=True,
        Content_Type="application/x-ndjson")


def read(data):
    table = pa.ipc.open_stream(data).read_all()
    table.validate(full=True)
    return table


def columns(path, **how):
    head, data = ask(path, Accept=ARROW, **how)
    assert head["content-type"] == ARROW, head
    return read(data)


def kind(values):
    """The type of a column by its values, as the contract says it."""
    if all(type(value) is int and -(2**63) <= value < 2**63 for value in values):
        return pa.int64()
    if all(type(value) in (int, float) for value in values) and not any(
        type(value) is int and abs(value) > 2**53 for value in values
    ):
        return pa.float64()
    if all(type(value) is bool for value in values):
        return pa.bool_()
    return pa.string() if all(type(value) is str for value in values) else "json"


def compare(path, unix=False):
    """Compares the columns of an answer with its features; returns how many there are."""
    answer = json.loads(ask(path, unix=unix)[1])
    table = columns(path, unix=unix)
    features = answer["features"]
    assert table.num_rows == len(features), (path, table.num_rows, len(features))
    metadata = {name.decode(): json.loads(value) for name, value in table.schema.metadata.items()}
    expected = {name: value for name, value in answer.items() if name not in ("type", "features")}
    assert metadata == expected, (path, metadata, expected)
    included = urllib.parse.parse_qs(urllib.parse.urlsplit(path).query).get("include", [""])[0].split(",")
    fixed = FIXED + [name for name in ("key", "geometry") if name in included]
    assert table.schema.names[:5] == FIXED, table.schema.names

    def column(name):
        field = table.schema.field(name)
        values = table.column(name)
        if (field.metadata or {}).get(b"ARROW:extension:name") == b"arrow.json" or str(field.type).startswith("extension<arrow.json"):
            storage = pa.chunked_array([getattr(chunk, "storage", chunk) for chunk in values.chunks], pa.string())
            return "json", [None if text is None else json.loads(text) for text in storage.to_pylist()]
        return field.type, values.to_pylist()

    clusters = [feature["properties"] or {} for feature in features]
    is_cluster = [row.get("cluster") is True and "point_count_abbreviated" in row and feature.get("id") == row.get("cluster_id")
                  for row, feature in zip(clusters, features)]
    for index, name in enumerate(("longitude", "latitude")):
        assert column(name) == (pa.float64(), [feature["geometry"]["coordinates"][index] for feature in features]), name
    ids = [None if one else feature.get("id") for one, feature in zip(is_cluster, features)]
    if all(value is None or kind([value]) == pa.int64() for value in ids):
        assert column("id") == (pa.int64(), ids), column("id")
    else:
        texts = [value if value is None or type(value) is str else json.dumps(value) for value in ids]
        assert column("id") == (pa.string(), texts), (column("id")[1][:9], texts[:9])
    assert column("cluster_id") == (pa.uint64(), [row["cluster_id"] if one else None for one, row in zip(is_cluster, clusters)])
    assert column("point_count") == (pa.int64(), [row["point_count"] if one else None for one, row in zip(is_cluster, clusters)])
    names = {}
    for row in clusters:
        for name in row:
            if name not in WITHOUT_COLUMN:
                names[name] = "properties." + name if name in fixed else name
    for name in names:
        if not name.startswith("properties.") or name[11:] not in fixed or name[11:] not in names:
            continue
        names[name] = "properties." + name
    assert sorted(table.schema.names) == sorted(fixed + list(names.values())), (table.schema.names, names)
    for name, shown in names.items():
        values = [row.get(name) for row in clusters]
        expected = (kind([value for value in values if value is not None]), values)
        found = column(shown)
        assert found[0] == expected[0], (path, name, found[0], expected[0], values[:9])
        assert same(found[1], values), (path, name, [pair for pair in zip(found[1], values) if not same(*pair)][:3])
    if "geometry" in fixed:
        points = [{"x": feature["geometry"]["coordinates"][0], "y": feature["geometry"]["coordinates"][1]} for feature in features]
        assert [getattr(point, "as_py", lambda: point)() for point in table.column("geometry").to_pylist()] == points
    return len(features)


def same(one, other):
    """Equality that takes true and 1 for different values."""
    if type(one) in (list, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if type(one) is dict:
        return type(other) is dict and one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return one == other and (type(one) is bool) == (type(other) is bool)


VALUES = {
    "integers": lambda: random.choice([0, -1, 7, 2**53, -(2**53), 2**63 - 1, -(2**63), random.randint(-99, 99)]),
    "numbers": lambda: random.choice([1, 2.5, -0.0, 1e300, 5e-324, 2**53, random.random()]),
    "floats": lambda: random.uniform(-1, 1),
    "large": lambda: random.choice([2**53 + 1, 2.5, 1]),
    "huge": lambda: random.choice([2**63, 10**30, 1]),
    "flags": lambda: random.random() < 0.5,
    "texts": lambda: random.choice(["", "a", 'q"\\\n\t', "é€😀", "\u2028", "x" * 300, "null", "1"]),
    "nested": lambda: random.choice([[], [1, "a", None], {}, {"k": {"l": [1.5]}}]),
    "mixed": lambda: random.choice([1, "1", True, None, [1], 2.5, "é\"", 2**60]),
    "nothing": lambda: None,
    "longitude": lambda: random.randint(0, 9), "id": lambda: "own", "geometry": lambda: 1.5, "properties.id": lambda: 2,
    "key": lambda: True, "cluster_id": lambda: 99, 'na"me\\ é': lambda: random.randint(0, 3), "": lambda: 1, "rare": lambda: "r",
}


def feature(number, identifier=True):
    properties = {name: make() for name, make in VALUES.items() if random.random() < (0.02 if name == "rare" else 0.8)}
    properties["score"] = random.randint(0, 1000)
    one = {"type": "Feature", "geometry": {"type": "Point", "coordinates": [random.gauss(10, 20), random.gauss(45, 10)]},
           "properties": properties if random.random() < 0.97 else None}
    if random.random() < 0.1:
        one["geometry"]["coordinates"].append(12.5)
    if identifier and random.random() < 0.9:
        one["id"] = number
    return json.dumps(one, ensure_ascii=random.random() < 0.5)


def values_are_those_of_json():
    random.seed(36)
    aggregates = {"sum": ["+", ["number", ["get", "score"], 0]], "most": ["max", ["get", "score"]],
                  "any": ["any", ["==", ["get", "flags"], True]]}
    odd = ['{"type":"Feature","id":"é\\"","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"a\\u0062":1,"twice":1,"twice":"2","score":1}}',
           '{"type":"Feature","id":1.5,"geometry":{"type":"Point","coordinates":[ 1.0 , -2e0 ]},"properties":{ "ab" : 2 , "score":2, "lone":"\\ud800x" }}'.replace("\\ud800x", "\\u00e9x"),
           '{"type":"Feature","id":18446744073709551615,"geometry":{"type":"Point","coordinates":[3,4]},"properties":null}']
    fill("kinds", [feature(number) for number in range(3000)], clusterProperties=aggregates, indexedProperties={"score": ["get", "score"]})
    fill("texts", [feature(f"id {number}") for number in range(300)] + odd, indexedProperties={"score": ["get", "score"]})
    fill("none", [feature(number, identifier=False) for number in range(300)])
    world = [cluster["properties"]["cluster_id"] for cluster in
             json.loads(ask("/sources/kinds/clusters?zoom=1")[1])["features"] if cluster["properties"].get("point_count")]
    paths = [f"/sources/{source}/clusters?zoom={zoom}" for source in ("kinds", "texts", "none") for zoom in (0, 4, 16)]
    paths += [f"/sources/kinds/clusters?zoom=6&{query}" for query in (
        "limit=10", "bbox=0,40,20,50&precision=2", "properties=texts,score,most", "properties=nosuch", "include=geometry",
        "include=key,expansionZoom,hull,bbox,coincident,anchor", "include=key,geometry&limit=3", "bbox=100,0,101,1",
        "window=score,100,300", "pin=4,5,6", "topBy=score&include=top", "filter=%5B%22%3E%22%2C%5B%22get%22%2C%22score%22%5D%2C500%5D")]
    paths += [f"/sources/kinds/clusters/{cluster}/leaves?{query}" for cluster in world[:3] for query in (
        "limit=0", "limit=5&offset=3", "limit=5&offset=100000", "limit=0&include=geometry", "limit=0&window=score,0,50")]
    paths += [f"/sources/{source}/top?by={by}&limit=100" for source in ("kinds", "texts") for by in ("score", "-score")]
    paths += ["/sources/kinds/top?by=score&limit=7&include=geometry&properties=score"]
    paths += [f"/sources/{source}/features" for source in ("kinds", "texts", "none")]
    paths += ["/sources/kinds/features?properties=flags&precision=1", "/sources/kinds/features?include=geometry"]
    rows = [compare(path) for path in paths]
    assert sum(rows) > 20_000 and 0 in rows, rows
    for path in paths[::5]:
        compare(path, unix=True)
    call("SourceService/UpdateFeatures", source="kinds", upsert=[json.loads(feature(number)) | {"id": number} for number in range(5)],
         remove=[10, 11])
    for path in ("/sources/kinds/features", "/sources/kinds/clusters?zoom=16"):
        compare(path)
    call("SourceService/CreateSource", source="empty")
    for path in ("/sources/empty/features", "/sources/empty/clusters?zoom=3", "/sources/kinds/clusters?zoom=3&bbox=100,0,101,1"):
        table = columns(path + ("&" if "?" in path else "?") + "include=geometry")
        assert table.num_rows == 0 and table.schema.names == FIXED + ["geometry"], table.schema


def accept_is_negotiated():
    path = "/sources/kinds/clusters?zoom=3"
    for accept, expected in [
        (ARROW, ARROW), (ARROW.upper(), ARROW), (f"{ARROW};q=0.1", ARROW), (f"{ARROW};q=0", GEOJSON), ("*/*", GEOJSON),
        ("application/*", GEOJSON), ("text/html", GEOJSON), ("", GEOJSON), (f"{ARROW}, */*;q=0.5", ARROW), (f"*/*, {ARROW}", ARROW),
        (f"{ARROW};q=0.4, {GEOJSON};q=0.5", GEOJSON), (f"{ARROW};q=0.5, {GEOJSON};q=0.4", ARROW),
        (f"{GEOJSON}, {ARROW}", GEOJSON), (f"{ARROW}, {GEOJSON}", ARROW), (f"{ARROW};q=0.3, */*;q=0.8", GEOJSON),
        (f"{ARROW}, {GEOJSON};q=0", ARROW), (f"{ARROW}; q=0.9, application/json", GEOJSON), ("application/vnd.apache.arrow.file", GEOJSON),
    ]:
        head, _ = ask(path, Accept=accept)
        assert head["content-type"] == expected, (accept, head["content-type"])
        assert "accept" in [name.strip().lower() for name in head["vary"].split(",")], head
    for path in (path, "/sources/kinds/features", "/sources/kinds/top?by=score"):
        tags = {ask(path, Accept=accept, Accept_Encoding=coding)[0]["etag"] for accept in (ARROW, GEOJSON) for coding in ("identity", "gzip")}
        assert len(tags) == 4, tags
        tag = ask(path, Accept=ARROW)[0]["etag"]
        head, data = ask(path, Accept=ARROW, If_None_Match=tag, status=304)
        assert not data and head["etag"] == tag and "Accept" in head["vary"], head
        ask(path, If_None_Match=tag)
        ask(path, Accept=ARROW, If_None_Match="*", status=304)
        ask(path, Accept=ARROW, If_Match='"other"', status=412)
        head, data = ask(path, "HEAD", Accept=ARROW)
        assert not data and head["content-type"] == ARROW and head["etag"] == tag, head
        plain, (head, packed) = ask(path, Accept=ARROW)[1], ask(path, Accept=ARROW, Accept_Encoding="gzip")
        inflater = zlib.decompressobj(31)
        assert head["content-encoding"] == "gzip" and inflater.decompress(packed) == plain, "one gzip stream"
        assert inflater.eof and not inflater.unused_data
    # Several requests of one connection, with both kinds of answers.
    connection = UnixConnection("localhost")
    for accept in (ARROW, GEOJSON, ARROW):
        connection.request("GET", path, headers={"Accept": accept})
        response = connection.getresponse()
        assert response.getheader("Content-Type") == accept and response.read()
    connection.close()


def errors_are_those_of_json():
    for path, status in [
        ("/sources/nosuch/clusters?zoom=3", 404), ("/sources/nosuch/features", 404), ("/sources/kinds/clusters/5/leaves", 404),
        ("/sources/kinds/clusters", 400), ("/sources/kinds/features?zoom=3", 400), ("/sources/kinds/top?by=texts", 400),
        ("/sources/kinds/clusters?zoom=3&include=nosuch", 400), ("/sources/kinds/features?include=hull", 400),
        ("/sources/kinds/features?filter=%5B%22nosuch%22%5D", 400), ("/sources/kinds/clusters?zoom=3&revision=77", 409),
    ]:
        answers = [ask(path, Accept=accept, status=status) for accept in (ARROW, GEOJSON)]
        assert answers[0][1] == answers[1][1] and answers[0][0]["content-type"] == "application/json", answers
    wide = ['{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"p%d":1}}' % number for number in range(5000)]
    fill("wide", wide)
    _, message = ask("/sources/wide/features", Accept=ARROW, status=429)
    assert b"params.properties" in message, message
    assert columns("/sources/wide/features?properties=p1,p4999").schema.names == FIXED + ["p1", "p4999"]


def rules_hold():
    rows = ['{"type":"Feature","id":%d,"geometry":{"type":"Point","coordinates":[%d,2]},"properties":{"tenant":"%s"}}'
            % (number, number, "ab"[number % 2]) for number in range(8)]
    for source in ("ruled", "counted"):
        fill(source, rows)
    assert compare("/sources/ruled/features") == 4
    assert columns("/sources/ruled/features").column("tenant").to_pylist() == ["a"] * 4
    assert columns("/sources/ruled/features", unix=True).num_rows == 8
    for path in ("features", "top?by=tenant"):
        ask(f"/sources/counted/{path}", Accept=ARROW, status=403)
    assert columns("/sources/counted/clusters?zoom=0").num_rows <= 1
    ask("/sources/counted/clusters?zoom=0&include=hull", Accept=ARROW, status=403)


def long_answers_take_little_memory():
    count = 300_000
    text = '{"type":"Feature","id":%d,"geometry":{"type":"Point","coordinates":[%d.%03d,%d.5]},"properties":{"name":"place number %d","v":%d}}'
    fill("long", [text % (n, n % 350 - 175, n % 1000, n % 120 - 60, n, n) for n in range(count)])
    process = peer()

    def resident():
        return next(int(line.split()[1]) for line in open(f"/proc/{process}/status") if line.startswith("VmRSS")) // 1024

    connection = UnixConnection("localhost")
    connection.request("GET", "/sources/long/features", headers={"Accept": ARROW})
    response = connection.getresponse()
    reader = pa.ipc.open_stream(io.BufferedReader(response))
    rows, sizes, before = 0, [], resident()
    for batch in reader:
        rows += batch.num_rows
        sizes.append(batch.num_rows)
        assert resident() < before + 100, (before, resident())
    assert rows == count and max(sizes) <= 65_536 and len(sizes) > 4, sizes
    connection.close()
    # A client that stops reading, and one that leaves, do not disturb others.
    for size in (100, 1 << 20):
        connection = UnixConnection("localhost")
        connection.request("GET", "/sources/long/features", headers={"Accept": ARROW})
        connection.getresponse().read(size)
        connection.close()
    compare("/sources/kinds/clusters?zoom=3")
    clusters = "/sources/long/clusters?zoom=16&limit=100000"
    sizes = [len(ask(path, Accept=accept, Accept_Encoding=coding)[1]) for path in ("/sources/long/features", clusters)
             for accept, coding in ((GEOJSON, "identity"), (ARROW, "identity"), (ARROW, "gzip"))]
    for whole, plain, packed in (sizes[:3], sizes[3:]):
        print(f"{whole} bytes of JSON, {plain / whole:.1%} in columns, {packed / whole:.1%} gzipped")
        assert plain <= 0.6 * whole and packed <= 0.2 * whole


def peer():
    one = socket.socket(socket.AF_UNIX)
    one.connect(SOCKET)
    return int.from_bytes(one.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4], sys.byteorder)


def http2_has_them():
    path = "/sources/kinds/features?include=geometry"
    options = ["curl", "-sS", "--http2-prior-knowledge", "-w", "%{http_version}", "-H", f"Accept: {ARROW}"]
    done = subprocess.run([*options, "-o", "-", f"http://127.0.0.1:{PORT}{path}"], capture_output=True)
    assert done.returncode == 0 and done.stdout.endswith(b"2"), done.stderr
    assert read(done.stdout[:-1]).equals(columns(path))
    done = subprocess.run([*options, "-o", "-", f"http://127.0.0.1:{PORT}/sources/long/features"], capture_output=True)
    assert done.returncode == 0 and read(done.stdout[:-1]).num_rows == 300_000, done.stderr
    done = subprocess.run([*options, "-I", f"http://127.0.0.1:{PORT}{path}"], capture_output=True)
    assert b"HTTP/2 200" in done.stdout and ARROW.encode() in done.stdout, done


def other_readers_read_them():
    path = "/sources/kinds/features?include=geometry"
    data = ask(path, Accept=ARROW)[1]
    table = read(data)
    missing = []

    def reader(name):
        try:
            return __import__(name)
        except ImportError:
            missing.append(name)
            return None

    if polars := reader("polars"):
        frame = polars.read_ipc_stream(io.BytesIO(data))
        assert frame.height == table.num_rows and frame["score"].to_list() == table["score"].to_pylist()
        assert frame["texts"].to_list() == table["texts"].to_pylist() and frame["flags"].to_list() == table["flags"].to_pylist()
    if pandas := reader("pandas"):
        frame = table.to_pandas(types_mapper={pa.int64(): pandas.Int64Dtype()}.get)
        assert frame["score"].sum() == sum(value or 0 for value in table["score"].to_pylist())
    if geopandas := reader("geopandas"):
        frame = geopandas.GeoDataFrame.from_arrow(table)
        assert frame.crs == "OGC:CRS84" and frame.geometry.x.tolist() == table["longitude"].to_pylist()
    if duckdb := reader("duckdb"):
        rows = table
        found = duckdb.sql("select count(*), sum(score), max(geometry.x), count(mixed) from rows").fetchall()[0]
        assert found[0] == table.num_rows and found[1] == frame_sum(table), found
    if pyogrio := reader("pyogrio"):
        points = pa.array([struct.pack("<bidd", 1, 1, *point) for point in zip(table["longitude"].to_pylist(), table["latitude"].to_pylist())])
        rows = table.select(["score", "texts", "flags"]).append_column("geometry", points)
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"columns-{os.getpid()}.gpkg")
        try:
            pyogrio.write_arrow(rows, path, driver="GPKG", layer="rows", geometry_type="Point", geometry_name="geometry", crs="EPSG:4326")
            meta, back = pyogrio.read_arrow(path, layer="rows")
            assert back["score"].to_pylist() == table["score"].to_pylist() and back["texts"].to_pylist() == table["texts"].to_pylist()
        finally:
            if os.path.exists(path):
                os.unlink(path)
        if "Arrow" not in pyogrio.list_drivers():
            print("GDAL here has no driver for Arrow's streams: it takes the columns from pyarrow")
    if missing:
        print("not tested, because they are not in .build/test-python:", ", ".join(missing))


def frame_sum(table):
    return sum(value or 0 for value in table["score"].to_pylist())


for test in (values_are_those_of_json, accept_is_negotiated, errors_are_those_of_json, rules_hold, long_answers_take_little_memory,
             http2_has_them, other_readers_read_them):
    test()
    print("ok", test.__name__)
