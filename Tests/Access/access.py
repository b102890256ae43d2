# SPDX-License-Identifier: MIT
"""Tokens and rules of access, as clients meet them. Each case says what the daemon has to do.

Usage: access.py FOLDER SOCKET PORT PID: the daemon PID reads FOLDER/clusterd.json and has the sources "orders" and "vault".
"""
import base64, hashlib, hmac, http.client, json, os, signal, socket, struct, sys, time

FOLDER, SOCKET, PORT, PID = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
SECRETS = [open(f"{FOLDER}/key{number}", "rb").read() for number in (1, 2)]
sys.argv[1:] = ["127.0.0.1", str(PORT)]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../GRPC"))
from http2_hostility import DATA, Client

CHECK, WATCH = "/clusterd.v1.ServerService/Check", "/clusterd.v1.ClusterService/WatchClusters"


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(secret=SECRETS[0], head={"alg": "HS256"}, **claims):
    claims = {"exp": time.time() + 600, "sub": "anna", "tenant": "acme", **claims}
    text = encoded(json.dumps(head).encode()) + "." + encoded(json.dumps(claims).encode())
    return text + "." + encoded(hmac.new(secret, text.encode(), hashlib.sha256).digest())


def ask(path, bearer=None, method="GET", body=None, **fields):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=20)
    fields = {name.replace("_", "-"): value for name, value in fields.items()}
    if bearer:
        fields["Authorization"] = "Bearer " + bearer
    connection.request(method, path, body, fields)
    response = connection.getresponse()
    return response.status, dict((name.lower(), value) for name, value in response.getheaders()), response.read()


def expect(status, path, bearer=None, **how):
    got = ask(path, bearer, **how)
    assert got[0] == status, (path, got)
    return got


def raw(request, unix=False):
    """The status of a response to these bytes."""
    client = socket.socket(socket.AF_UNIX if unix else socket.AF_INET)
    client.settimeout(20)
    client.connect(SOCKET if unix else ("127.0.0.1", PORT))
    client.sendall(request.encode())
    return int(client.recv(65536).split()[1])


def reload(change):
    path = f"{FOLDER}/clusterd.json"
    configuration = json.load(open(path))
    change(configuration)
    json.dump(configuration, open(path, "w"))
    before = info()["lastReload"]
    os.kill(PID, signal.SIGHUP)
    end = time.monotonic() + 20
    while info()["lastReload"] == before:
        assert time.monotonic() < end, "the configuration is not reloaded"
        time.sleep(0.02)
    return info()["lastReload"]


def local(method, **params):
    """A call over the Unix socket, by this user, who is the daemon's."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(20)
    client.connect(SOCKET)
    text = json.dumps({"id": 1, "method": f"clusterd.v1.{method}", "params": params}).encode()
    client.sendall(struct.pack(">BI", 0, len(text)) + text)
    data = b""
    while len(data) < 5 or len(data) < 5 + int.from_bytes(data[1:5], "big"):
        data += client.recv(65536)
    answer = json.loads(data[5:])
    assert "result" in answer, answer
    return answer["result"]


def info():
    return local("ServerService/GetServerInfo")


def case_a_token_is_needed():
    for path in ("/", "/sources", "/sources/orders/clusters?zoom=0", "/metrics", "/assets/page.js", "/nosuch", "/archives/a.pmtiles"):
        status, fields, body = expect(401, path)
        assert fields["www-authenticate"] == 'Bearer realm="clusterd"', fields
        assert json.loads(body)["code"] == "unauthenticated", body
    expect(200, "/health")
    expect(401, "/clusterd.v1.ServerService/GetServerInfo", method="POST", body="{}", Content_Type="application/json")
    status, _, body = expect(401, "/clusterd.v1.ServerService/GetServerInfo", method="POST", body="{}",
                             Content_Type="application/json", Connect_Protocol_Version="1")
    assert json.loads(body)["code"] == "unauthenticated", body
    for bad in (token(secret=b"another"), token(exp=time.time() - 31), token(exp="soon"), token(nbf=time.time() + 60), "x.y.z",
                token(head={"alg": "none"}), token(head={"alg": "HS256", "crit": ["x"]}), token(aud="others")):
        assert 'error="invalid_token"' in expect(401, "/sources", bad)[1]["www-authenticate"]
    expect(200, "/sources", token(exp=time.time() - 25))


def case_rights():
    update = dict(method="POST", body='{"source":"new"}', Content_Type="application/json")
    create = "/clusterd.v1.SourceService/CreateSource"
    expect(403, create, token(), **update)
    expect(200, create, token(**{"clusterd:right": "admin"}), **update)
    expect(200, "/clusterd.v1.SourceService/DeleteSource", token(**{"clusterd:right": "manage"}), **update)
    expect(401, "/sources", token(**{"clusterd:right": "king"}))
    # Rules cover the name, and what they cover only administrators make. The token's right is at most "manage".
    covered = dict(method="POST", body='{"source":"orders-new"}', Content_Type="application/json")
    expect(403, create, token(**{"clusterd:right": "admin"}), **covered)


def case_tenants():
    for tenant, count in (("acme", 3), ("umbrella", 2)):
        bearer = token(tenant=tenant)
        source = json.loads(expect(200, "/sources/orders", bearer)[2])
        assert source["points"] == count and "memoryBytes" not in source, source
        assert [s["source"] for s in json.loads(expect(200, "/sources", bearer)[2])["sources"]] == ["orders"]
        text = expect(200, "/sources/orders/clusters?zoom=20", bearer)[2].decode()
        assert text.count('"Feature"') == count and all(f'"{other}"' not in text for other in {"acme", "umbrella"} - {tenant}), text
        assert f'clusterd_source_points{{source="orders"}} {count}\n' in expect(200, "/metrics", bearer)[2].decode()
    expect(404, "/sources/vault", token())
    missing, hidden = (json.loads(expect(404, f"/sources/{name}", token())[2]) for name in ("vaulx", "vault"))
    assert missing["message"].replace("vaulx", "vault") == hidden["message"], (missing, hidden)
    expect(403, "/sources/orders", token(tenant=None))
    # A number that another tenant's number equals.
    assert b"2^53" in expect(403, "/sources/orders", token(tenant=2**53 + 1))[2]
    assert json.loads(expect(200, "/sources", token(tenant=None))[2])["sources"] == []
    assert local("SourceService/GetSource", source="vault")["points"] == 1


def case_caches():
    """An answer of one tenant is never that of another, whatever it asks with."""
    paths = ["/sources/orders/tiles/0/0/0.mvt", "/sources/orders/clusters?zoom=3", "/sources/orders/tiles.json"]
    for path in paths:
        answers = {}
        for tenant in ("acme", "umbrella", "acme", "umbrella"):
            _, fields, body = expect(200, path, token(tenant=tenant), Accept_Encoding="gzip")
            assert fields["cache-control"].startswith("private"), fields
            assert "Authorization" in fields["vary"], fields
            assert answers.setdefault(tenant, (fields["etag"], body)) == (fields["etag"], body)
        assert answers["acme"][0] != answers["umbrella"][0]
        expect(304, path, token(), If_None_Match=answers["acme"][0])
        expect(200, path, token(), If_None_Match=answers["umbrella"][0])


def case_tokens_in_urls():
    secret = token()
    for name in ("access_token", "access%5Ftoken", "%61ccess_token"):
        expect(200, f"/sources/orders/clusters?zoom=0&{name}={secret}&limit=1")
        expect(200, f"/sources/orders?{name}={secret}")
    expect(401, f"/sources/orders?access_token={secret}&access_token={secret}")
    expect(200, "/sources", secret)
    assert raw(f"GET /sources HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {secret}\r\nAuthorization: Bearer {secret}\r\n\r\n") == 401
    # Over the Unix socket none is needed, but one that got lost is not none.
    for field, expected in (("", 200), ("Authorization: Bearer\r\n", 401), ("Authorization: Bearer  \r\n", 401),
                            ("Authorization: Basic YQ==\r\n", 200), (f"Authorization: Bearer {secret}\r\n", 200)):
        assert raw(f"GET /sources HTTP/1.1\r\n{field}Host: x\r\n\r\n", unix=True) == expected, field
    expect(400, f"/sources/orders/clusters?access_token={secret}&nosuch=1")
    expect(404, f"/nosuch?access_token={secret}", Referer=f"http://localhost/?source=orders&access_token={secret}#1")
    tiles = json.loads(expect(200, f"/sources/orders/tiles.json?access_token={secret}")[2])["tiles"][0]
    expect(200, tiles.split(str(PORT))[1].format(z=0, x=0, y=0))
    assert "access_token" not in json.loads(expect(200, "/sources/orders/tiles.json", secret)[2])["tiles"][0]
    # HTTP/2 has URLs too.
    client = Client()
    fields = [(":method", "GET"), (":scheme", "http"), (":path", f"/sources?access_token={secret}"),
              (":authority", f"127.0.0.1:{PORT}")]
    from http2_hostility import END_HEADERS, END_STREAM, HEADERS, frame
    client.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, client.encoder.encode(fields)))
    assert client.ending(1)[":status"] == "200"


def status(client, path, body=b"\0\0\0\0\0", **fields):
    ending = client.ending(client.open(path, body, extra=[(name, value) for name, value in fields.items()]))
    return ending.get("grpc-status") if isinstance(ending, dict) else ending


def source(name):
    return struct.pack(">BI", 0, len(name) + 2) + b"\x0a" + bytes([len(name)]) + name.encode()


def case_grpc():
    client, get = Client(), "/clusterd.v1.SourceService/GetSource"
    assert status(client, CHECK) == "16"
    assert status(client, CHECK, authorization="Bearer " + token(secret=b"x")) == "16"
    assert status(client, CHECK, authorization="Bearer " + token()) == "0"
    # Each call has a caller of its own.
    assert status(client, get, source("orders"), authorization="bearer " + token()) == "0"
    assert status(client, get, source("vault"), authorization="Bearer " + token()) == "5"
    assert status(client, get, source("orders"), authorization="Bearer " + token(tenant=None)) == "7"
    assert status(client, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo") == "16"
    both = [("authorization", "Bearer " + token())] * 2
    assert client.ending(client.open(get, source("orders"), extra=both)).get("grpc-status") == "16"
    health = "/grpc.health.v1.Health/Check"
    assert status(client, health) == "0"
    assert status(client, health, source("sources/orders")) == "5"
    assert status(client, health, source("sources/orders"), authorization="Bearer " + token()) == "0"
    assert status(client, health, source("sources/vault"), authorization="Bearer " + token()) == "5"


def open_watch(bearer):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
    connection.request("GET", "/sources/orders/watch?zoom=0", None, {"Authorization": "Bearer " + bearer, "Accept": "text/event-stream"})
    response = connection.getresponse()
    assert response.status == 200, response.read()
    while not response.readline().startswith(b"data:"):
        pass
    return response


def case_watches_end_with_their_token():
    bearer = token(exp=time.time() - 28)
    client = Client()
    health = client.open("/grpc.health.v1.Health/Watch", source("sources/orders"), extra=[("authorization", "Bearer " + bearer)])
    rest = open_watch(bearer).read()
    assert b"unauthenticated" in rest or b"UNAUTHENTICATED" in rest, rest
    # SERVING, and then SERVICE_UNKNOWN.
    statuses = b""
    while not statuses.endswith(b"\x08\x03"):
        kind, _, stream, payload = client.read()
        statuses += payload if (kind, stream) == (DATA, health) else b""
    assert statuses.count(b"\x08\x01") == 1, statuses


def case_archives():
    bearer, publish = token(**{"clusterd:right": "manage"}), "/clusterd.v1.SourceService/PublishTiles"
    body = json.dumps({"source": "orders", "path": f"{FOLDER}/archives/acme.pmtiles"}).encode()
    envelope = struct.pack(">BI", 0, len(body)) + body
    answer = expect(200, publish, bearer, method="POST", body=envelope, Content_Type="application/connect+json")[2]
    assert b'"done"' in answer, answer
    data = expect(200, "/archives/acme.pmtiles", token())[2]
    assert b"umbrella" not in data
    expect(404, "/archives/acme.pmtiles", token(tenant="umbrella"))
    expect(404, "/archives/vault.pmtiles", token())
    # What a caller may not see it may not replace either; its own it may.
    for name, overwrite, status in (("vault", True, b"permission_denied"), ("foreign", True, b"permission_denied"),
                                    ("vault", False, b"permission_denied"), ("acme", False, b"already_exists"), ("acme", True, b'"done"')):
        body = json.dumps({"source": "orders", "path": f"{FOLDER}/archives/{name}.pmtiles", "overwrite": overwrite}).encode()
        answer = expect(200, publish, bearer, method="POST", body=struct.pack(">BI", 0, len(body)) + body,
                        Content_Type="application/connect+json")[2]
        assert status in answer, (name, overwrite, answer)
    expect(404, "/archives/all.pmtiles", token())
    expect(404, "/archives/foreign.pmtiles", token())


def case_explanations():
    why = local("ServerService/ExplainAccess", source="orders", token=token(tenant="umbrella"))
    assert why["isSeen"] and why["rule"] == "access.rules[0]" and why["filter"] == ["==", ["get", "tenant"], "umbrella"], why
    assert why["subject"] == "anna" and why["right"] == "query", why
    assert (why["points"], why["ofPoints"]) == (2, 5), why
    assert "does not exist" in local("ServerService/ExplainAccess", source="vault", token=token())["why"]
    why = local("ServerService/ExplainAccess", source="orders", token=token(tenant=None))["why"]
    assert why == 'What is seen of the source \'orders\' depends on the claim "tenant", which the token does not have.', why
    assert "no such source" in local("ServerService/ExplainAccess", source="orders2", token=token())["why"]
    assert "expired" in local("ServerService/ExplainAccess", source="orders", token=token(exp=1))["why"]
    assert local("ServerService/ExplainAccess", source="other", token=token())["isSeen"]
    open(f"{FOLDER}/anna.jwt", "w").write(token() + "\n")
    explain = {"source": "orders", "token": token()}
    expect(403, "/clusterd.v1.ServerService/ExplainAccess", token(**{"clusterd:right": "admin"}), method="POST",
           body=json.dumps(explain), Content_Type="application/json")


def case_reloads():
    watch, other = open_watch(token()), open_watch(token(secret=SECRETS[1]))

    def one_key(configuration):
        configuration["http"]["tokens"] = configuration["http"]["tokens"][:1]
    assert reload(one_key)["ok"]
    assert b"nauthenticated" in other.read().lower(), "a watch goes on whose key was removed"
    expect(401, "/sources", token(secret=SECRETS[1]))
    expect(200, "/sources", token())

    def bad_key(configuration):
        configuration["http"]["tokens"][0]["keyFile"] += "-nosuch"
    assert not reload(bad_key)["ok"]
    expect(200, "/sources", token())

    def good_key(configuration):
        configuration["http"]["tokens"][0]["keyFile"] = f"{FOLDER}/key1"
        configuration["access"]["rules"][0]["minCount"] = 2
    assert reload(good_key)["ok"]
    assert b"unavailable" in watch.read().lower(), "a watch goes on whose rule has changed"
    expect(403, "/sources/orders/clusters/1/leaves", token())
    text = expect(200, "/sources/orders/clusters?zoom=20", token())[2].decode()
    assert '"Feature"' not in text, text


if __name__ == "__main__":
    for name in [name for name in globals() if name.startswith("case_")]:
        globals()[name]()
        print(f"{name[5:]}: ok", flush=True)
