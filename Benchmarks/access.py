# SPDX-License-Identifier: MIT
"""What a rule of access costs: the first and the later calls of a caller with a rule, and its memory, beside the same features by
a plain filter, beside a rule that shows what a declared view shows, and beside callers without rules, in one run. Then what a
token costs. Requests over HTTP on one connection that stays, the answers' sizes alike.
python3 Benchmarks/access.py [BIN] [POINTS], with the folder of release binaries."""
import base64, hashlib, hmac, http.client, json, os, random, re, shutil, socket, statistics, subprocess, sys, tempfile, time, urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients", "python", "src"))
import clusterd  # noqa: E402

TENANTS, TIMES = 20, 300
KEY = b"a secret of the benchmark, 32 bytes or more"


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(tenant):
    text = encoded(b'{"alg":"HS256"}') + "." + encoded(json.dumps({"exp": time.time() + 36000, "tenant": tenant, "sub": "bench"}).encode())
    return text + "." + encoded(hmac.new(KEY, text.encode(), hashlib.sha256).digest())


def write(count, path):
    source = random.Random(7)
    towns = [(source.uniform(-170, 170), source.uniform(-55, 65)) for _ in range(max(50, count // 500))]
    with open(path, "w") as file:
        for number in range(count):
            x, y = towns[int(len(towns) * source.random() ** 2)]
            x, y = max(-180, min(180, x + source.gauss(0, 0.3))), max(-85, min(85, y + source.gauss(0, 0.3)))
            file.write(f'{{"type":"Feature","id":{number},"geometry":{{"type":"Point","coordinates":[{x:.6f},{y:.6f}]}},'
                       f'"properties":{{"tenant":"t{source.randrange(TENANTS)}","n":{number}}}}}\n')


def of(tenant):
    return ["==", ["get", "tenant"], tenant]


class Web:
    def __init__(self, port=0, path=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        if path:
            self.connection.sock = socket.socket(socket.AF_UNIX)
            self.connection.sock.connect(path)

    def get(self, path, bearer="", fields=None):
        self.connection.request("GET", path, headers={"Authorization": "Bearer " + bearer} if fields is None else fields)
        response = self.connection.getresponse()
        body = response.read()
        assert response.status == 200, body
        return body

    def clock(self, path, bearer="", fields=None):
        path = path() if callable(path) else path
        started = time.perf_counter()
        self.get(path, bearer, fields)
        return (time.perf_counter() - started) * 1000


def median(values):
    return statistics.median(values)


def main():
    binaries = sys.argv[1] if len(sys.argv) > 1 else ".build/release"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    folder = tempfile.mkdtemp(prefix="a", dir="/tmp")
    path = os.path.join(folder, "s")
    daemon = None
    try:
        write(count, os.path.join(folder, "p.ndjson"))
        open(os.path.join(folder, "key"), "wb").write(KEY)
        tenants = {"tokens": True, "filter": ["==", ["get", "tenant"], ["claim", "tenant"]]}
        json.dump({
            "importDirectories": [folder], "http": {"listen": ["127.0.0.1:0"], "tokens": [{"algorithm": "HS256", "keyFile": folder + "/key"}]},
            "limits": {"filterCacheBytes": 2 << 30},
            "access": {"rules": [{"sources": ["ruled", "viewed"], **tenants}]},
        }, open(os.path.join(folder, "c.json"), "w"))
        log = open(os.path.join(folder, "log"), "w")
        daemon = subprocess.Popen([os.path.join(binaries, "clusterd"), "--socket", path, "--config", folder + "/c.json"], stderr=log)
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)", open(log.name).read())):
            assert daemon.poll() is None, open(log.name).read()
            time.sleep(0.02)
        web = Web(int(found[1]))
        client = clusterd.Client(path, timeout=600)

        def memory():
            return client.call("ServerService/GetStats", {})["caches"]["filters"]["bytes"]
        views = {f"v{number}": {"filter": of(f"t{number}")} for number in range(3)}
        for name, options in (("ruled", {}), ("plain", {}), ("viewed", {"views": views})):
            client.call("SourceService/CreateSource", {"source": name, "options": options})
            client.call("SourceService/LoadFile", {"source": name, "path": folder + "/p.ndjson"})
        zooms = random.Random(3)

        def filtered(tenant):
            return urllib.parse.quote(json.dumps(of(tenant), separators=(",", ":")), safe="")

        def views_of(source, tenant=None):
            extra = f"&filter={filtered(tenant)}" if tenant else ""
            return lambda: f"/sources/{source}/clusters?zoom={zooms.choice((1, 2, 3))}&bbox={zooms.choice(('-120,20,-60,60', '0,-20,60,40'))}{extra}"
        first, later, held = {}, {}, {}
        # The columns that filters read are decoded once, for whoever comes first: they are no cost of a rule.
        web.get("/sources/ruled/clusters?zoom=1", token("nobody"))
        web.get(f"/sources/plain/clusters?zoom=1&filter={filtered('nobody')}", token("t0"))
        for number in range(3):
            tenant = f"t{number}"
            for name, where in (("rule", views_of("ruled")), ("filter", views_of("plain", tenant)), ("rule like a view", views_of("viewed"))):
                before = memory()
                first.setdefault(name, []).append(web.clock(where, token(tenant)))
                held.setdefault(name, []).append(memory() - before)
        bearer = token("t1")
        doors = {"rule": views_of("ruled"), "filter": views_of("plain", "t1"), "rule like a view": views_of("viewed"),
                 "the view itself, which has the same rule": views_of("viewed:v1"), "all features, no rule": views_of("plain")}
        for where in doors.values():
            web.clock(where, bearer)
        for _ in range(TIMES):
            for name, where in doors.items():
                later.setdefault(name, []).append(web.clock(where, bearer))
        base = {"first": median(first["filter"]), "later": median(later["filter"])}
        print(f"{count} points, {TENANTS} tenants; ratios are to the plain filter")
        for name in doors:
            line = f"{name:42}"
            if name in first:
                line += f" first call {median(first[name]):8.1f} ms ({median(first[name]) / base['first']:5.2f})"
                line += f"   memory {median(held[name]) / 1e6:7.2f} MB ({median(held[name]) / max(1, median(held['filter'])):5.2f})"
            else:
                line += " " * 51
            print(f"{line}   later calls {median(later[name]):6.3f} ms ({median(later[name]) / base['later']:5.2f})")
        # What a token costs: a cached tile over the Unix socket, where none is needed.
        web, taken = Web(path=path), {}
        for _ in range(2000):
            for name, fields in (("without", {}), ("with", {"Authorization": "Bearer " + bearer})):
                taken.setdefault(name, []).append(web.clock("/sources/plain/tiles/0/0/0.mvt", fields=fields))
        plain, verified = median(taken["without"]), median(taken["with"])
        print(f"a cached tile: {plain:.3f} ms without a token, {verified:.3f} ms with one ({verified / plain:.2f})")
    finally:
        if daemon:
            daemon.terminate()
            daemon.wait()
        shutil.rmtree(folder, ignore_errors=True)


main()
