# SPDX-License-Identifier: MIT
"""The transports of leaks.py: each asks one daemon, and gives the answer in a form that can be compared, and its bytes."""
import hashlib, http.client, io, json, queue, re, struct, urllib.parse, zlib

import grpc
from google.protobuf import json_format

from grpc_messages import fill
from leak_daemons import PACKAGE, encoded
from leak_rounds import UNLISTED

ANY = object()
# Numbers and times of all features' changes, and what is not about data at all.
VARIABLE = {"revision", "createdAt", "updatedAt", "uptimeSeconds", "lastReload", "limits", "createTime", "updateTime", "buildMs",
            "ageSeconds", "age_seconds"}
# The same in Prometheus's text.
VARIABLE_METRICS = re.compile("clusterd_source_(revision|build_milliseconds|age_seconds)")


def canonical(value):
    if isinstance(value, dict):
        if "methods" in value and "sources" in value:
            # The counters are those of the whole daemon.
            return {"sources": canonical(value["sources"])}
        if set(value) == {"statsJson"}:
            return canonical(json.loads(value["statsJson"]))
        if value.get("code") in ("aborted", 10) and "details" in value:
            # It has the current revision.
            value = {**value, "details": None}
        return {name: canonical(inner) for name, inner in value.items() if name not in VARIABLE}
    if isinstance(value, list):
        return [canonical(inner) for inner in value]
    if isinstance(value, str):
        if value.startswith("# HELP"):
            return [line for line in value.split("\n") if "source=" in line and not VARIABLE_METRICS.match(line)]
        return text_of(value)
    return value


def text_of(text):
    return re.sub(r"(at revision |not |revision\D{0,4})\d+", r"\1N", text)


def archive(path):
    """What an archive's readers see, without its own description."""
    data = bytearray(open(path, "rb").read())
    start, count = struct.unpack("<QQ", data[24:40])
    text = zlib.decompress(data[start:start + count], 31) if data[97] == 2 else bytes(data[start:start + count])
    described = json.loads(text)
    described.pop("clusterd", None)
    # The length of the description moves what follows.
    root = struct.unpack("<QQ", data[8:24])
    tiles = struct.unpack("<QQ", data[56:72])
    return [described, hashlib.sha256(data[root[0]:sum(root)]).hexdigest(), hashlib.sha256(data[tiles[0]:sum(tiles)]).hexdigest(),
            bytes(data[72:127]).hex()], bytes(data) + text


def percent(text):
    return urllib.parse.quote(text, safe="")


def query_text(name, value):
    if name == "bbox":
        return ",".join(map(repr, value))
    if name == "window":
        (key, (low, high)), = value.items()
        return f"{key},{'' if low is None else low},{'' if high is None else high}"
    if name in ("include", "properties"):
        return ",".join(value)
    if name == "pin" or name == "edges":
        return ",".join(json.dumps(each) if isinstance(each, str) else str(each) for each in value)
    if isinstance(value, str) and name != "filter":
        return value
    return json.dumps(value)


def resource(method, params):
    """The resource of a call, as a path and what its query leaves out; None if it has none."""
    params = dict(params)
    source = percent(params.pop("source", ""))
    base = f"/sources/{source}"

    def take(name):
        value = params.pop(name)
        return percent(value if isinstance(value, str) else json.dumps(value))
    if method == "GetTile":
        ending = "mvt" if params.pop("encoding", "json") == "mvt" else "json"
        path = f"{base}/tiles/{take('z')}/{take('x')}/{take('y')}.{ending}"
    elif method in ("GetChildren", "GetLeaves", "GetClusterExpansionZoom", "GetConvexHull"):
        aspect = {"GetChildren": "children", "GetLeaves": "leaves", "GetClusterExpansionZoom": "expansion-zoom", "GetConvexHull": "hull"}
        path = f"{base}/clusters/{take('clusterId')}/{aspect[method]}"
    elif method == "LocateFeature":
        path = f"{base}/features/{take('featureId')}"
    elif method in ("GetClusters", "TopFeatures", "GetHistogram", "GetGrid"):
        path = base + {"GetClusters": "/clusters", "TopFeatures": "/top", "GetHistogram": "/histogram", "GetGrid": "/grid"}[method]
    elif method == "GetFeatures":
        path = base + "/features"
    elif method == "GetSource":
        path = base
    elif method == "ListSources":
        path = "/sources"
    elif method == "DescribeTiles":
        params.pop("tiles")
        path = base + "/tiles.json"
    elif method == "GetStats":
        params.clear()
        path = "/metrics"
    else:
        return None
    query = "&".join(f"{name}={percent(query_text(name, value))}" for name, value in params.items())
    return path + ("?" + query if query else "")


def answered(raw):
    """Whether an answer is none of the errors of the transports."""
    return not any(mark in raw[:200] for mark in (b'"code":', b'{"error"', b'"error":{', b"clusterd.v1"))


def comparable(response):
    status, fields, body = response
    kept = {name: fields.get(name) for name in ("content-type", "cache-control", "vary", "content-encoding")}
    has_tag = "etag" in fields
    if "json" in (fields.get("content-type") or ""):
        body = canonical(json.loads(body))
    elif (fields.get("content-type") or "").startswith("text/plain"):
        body = canonical("# HELP" + body.decode())
    return [status, kept, has_tag, body]


def bearer(round):
    return {"Authorization": "Bearer " + round.bearer}


def plain(daemon, text):
    """Texts that name the daemon itself, as both have them. Lengths stay."""
    folder = daemon.folder.encode()
    return text.replace(f":{daemon.port}".encode(), b":*****").replace(folder, folder[:-1] + b"*")


def difference(a, b, path=""):
    """Where two answers differ first."""
    if isinstance(a, dict) and isinstance(b, dict):
        for name in sorted({*a, *b}):
            if a.get(name, ANY) != b.get(name, ANY):
                return difference(a.get(name, "nothing"), b.get(name, "nothing"), f"{path}.{name}")
    if isinstance(a, list) and isinstance(b, list):
        for index, (one, other) in enumerate(zip(a, b)):
            if one != other:
                return difference(one, other, f"{path}[{index}]")
        return f"{path}: {len(a)} and {len(b)} elements, after the same ones {str((a + b)[min(len(a), len(b)):])[:500]}"
    return f"{path}: {str(a)[:700]} and {str(b)[:700]}"


COLUMNS = "application/vnd.apache.arrow.stream"


def by_resource(pair, round, daemon, declared, params, unix=False, fields={}):
    path = resource(declared["name"].split("/")[1], params)
    fields = dict(fields)
    if round.bearer_in_url:
        path += ("&" if "?" in path else "?") + "access_token=" + round.bearer
    else:
        fields.update(bearer(round))
    status, headers, body = daemon.http("GET", path, fields=fields, unix=unix)
    return comparable((status, headers, plain(daemon, body))), body


def by_columns(pair, round, daemon, declared, params):
    return by_resource(pair, round, daemon, declared, params, fields={"Accept": COLUMNS})


def by_post(pair, round, daemon, declared, params):
    got = daemon.http("POST", "/" + declared["name"], json.dumps(params), {"Content-Type": "application/json", **bearer(round)})
    return comparable((got[0], got[1], plain(daemon, got[2]))), got[2]


def message(pair, declared, params):
    """The request's message, and the answer's type."""
    service, method = declared["name"].removeprefix(PACKAGE).split("/")
    found = pair.contract.DESCRIPTOR.services_by_name[service].methods_by_name[method]
    request = getattr(pair.contract, found.input_type.name)()
    fill(request.open if declared["kind"] in ("client stream", "both") else request, params)
    return request, getattr(pair.contract, found.output_type.name)


def decoded(kind, data):
    return canonical(json_format.MessageToDict(kind.FromString(data), preserving_proto_field_name=False))


def by_connect(pair, round, daemon, declared, params, form):
    request, kind = message(pair, declared, params)
    body = json_format.MessageToJson(request) if form == "json" else request.SerializeToString()
    fields = {"Content-Type": f"application/{form}", "Connect-Protocol-Version": "1", **bearer(round)}
    status, headers, got = daemon.http("POST", "/" + declared["name"], body, fields)
    got = plain(daemon, got)
    if form == "proto" and status == 200:
        return [status, headers.get("vary"), decoded(kind, got)], got
    return comparable((status, headers, got)), got


def by_connect_query(pair, round, daemon, declared, params):
    request, kind = message(pair, declared, params)
    text = encoded(request.SerializeToString())
    path = f"/{declared['name']}?connect=v1&encoding=proto&base64=1&message={text}"
    status, headers, got = daemon.http("GET", path, fields=bearer(round))
    got = plain(daemon, got)
    if status == 200:
        assert headers["cache-control"].startswith(("private", "no-store")) and "Authorization" in headers["vary"], headers
        return [status, headers["cache-control"], decoded(kind, got)], got
    return comparable((status, headers, got)), got


def by_connect_stream(pair, round, daemon, declared, params):
    request, kind = message(pair, declared, params)
    data = request.SerializeToString()
    body = struct.pack(">BI", 0, len(data)) + data
    status, headers, got = daemon.http(
        "POST", "/" + declared["name"], body, {"Content-Type": "application/connect+proto", **bearer(round)})
    got = plain(daemon, got)
    if status != 200:
        return comparable((status, headers, got)), got
    stream, answers = io.BytesIO(got), []
    while head := stream.read(5):
        flag, count = struct.unpack(">BI", head)
        part = stream.read(count)
        answers.append(canonical(json.loads(part)) if flag & 2 else decoded(kind, part))
    return [without_progress(answers)], got


def without_progress(answers):
    """How far an archive was at some moment says nothing. Its size depends on how it names the rule."""
    def kept(answer):
        if not isinstance(answer, dict):
            return answer
        return {name: kept(value) if name in ("done", "end") else value for name, value in answer.items()
                if "path" not in answer or name not in ("bytes", "path")}
    return [kept(answer) for answer in answers if not (isinstance(answer, dict) and ("progress" in answer or "ofTiles" in answer))]


def by_grpc(pair, round, daemon, declared, params):
    request, kind = message(pair, declared, params)
    streams = {"unary": "unary_unary", "client stream": "stream_unary", "server stream": "unary_stream", "both": "stream_stream"}
    call = getattr(daemon.channel, streams[declared["kind"]])(
        "/" + declared["name"], request_serializer=lambda each: each.SerializeToString(), response_deserializer=bytes)
    metadata = (("authorization", "Bearer " + round.bearer),)
    raw, answers = [], []
    sent = queue.SimpleQueue()
    try:
        if declared["kind"] == "client stream":
            raw.append(call(iter([request]), timeout=60, metadata=metadata))
        elif declared["kind"] == "both":
            sent.put(request)
            stream = call(iter(sent.get, None), timeout=60, metadata=metadata)
            raw.append(next(stream))
            stream.cancel()
        elif declared["kind"] == "server stream":
            raw += list(call(request, timeout=60, metadata=metadata))
        else:
            raw.append(call(request, timeout=60, metadata=metadata))
        answers = without_progress([decoded(kind, data) for data in raw])
    except grpc.RpcError as error:
        trailers = dict(error.trailing_metadata() or ())
        details = plain(daemon, trailers.get("grpc-status-details-bin", b""))
        raw.append(details)
        answers = ["error", error.code().name, text_of(plain(daemon, (error.details() or "").encode()).decode()),
                   details if error.code() != grpc.StatusCode.ABORTED else b""]
    finally:
        sent.put(None)
    return answers, b"".join(raw)


def by_frames(pair, round, daemon, declared, params):
    messages = [{"id": 1, "method": declared["name"], "params": params}]
    if declared["kind"] == "client stream":
        messages.append({"id": 1, "end": True})
    answers = pair.stranger.call(0 if daemon is pair.whole else 1, messages, items=1 if declared["kind"] == "both" else 0)
    if declared["kind"] == "both":
        # After the first item comes the end of the cancelled call, perhaps after another item.
        answers = answers[:1]
    answers = without_progress([canonical(json.loads(plain(daemon, json.dumps(each.get("item", each)).encode()))) for each in answers])
    return answers, json.dumps(answers).encode()


def by_events(pair, round, daemon, declared, params):
    """The first event of a watch."""
    query = "&".join(f"{name}={percent(query_text(name, value))}" for name, value in params.items() if name != "source")
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
    connection.request("GET", f"/sources/{percent(params['source'])}/watch?{query}", headers={"Accept": "text/event-stream", **bearer(round)})
    response = connection.getresponse()
    try:
        if response.status != 200:
            data = response.read()
            fields = {name.lower(): text for name, text in response.getheaders()}
            return comparable((response.status, fields, plain(daemon, data))), data
        while not (line := response.readline()).startswith(b"data:"):
            assert line, "the watch has ended"
        return [200, canonical(json.loads(line[5:]))], line
    finally:
        connection.close()


def is_typed(pair, declared, params):
    return declared not in UNLISTED


def is_unary(pair, declared, params):
    return declared["kind"] == "unary"


def is_posted(pair, declared, params):
    # It is a resource, and no method that a client calls.
    return is_unary(pair, declared, params) and not declared["name"].endswith("DescribeTiles")


WITH_COLUMNS = {"GetClusters", "GetLeaves", "TopFeatures", "GetFeatures"}
DOORS = {
    "resource": (lambda pair, declared, params: resource(declared["name"].split("/")[1], params) is not None, by_resource),
    "columns": (lambda pair, declared, params: declared["name"].split("/")[1] in WITH_COLUMNS, by_columns),
    "POST": (is_posted, by_post),
    "Connect JSON": (lambda *of: is_unary(*of) and is_typed(*of), lambda *of: by_connect(*of, "json")),
    "Connect": (lambda *of: is_unary(*of) and is_typed(*of), lambda *of: by_connect(*of, "proto")),
    "Connect GET": (lambda *of: is_unary(*of) and is_typed(*of) and of[1]["right"] != "manage", by_connect_query),
    "Connect stream": (lambda *of: of[1]["kind"] == "server stream", by_connect_stream),
    "gRPC": (is_typed, by_grpc),
    "frames": (lambda pair, declared, params: pair.stranger is not None and not declared["name"].endswith("DescribeTiles"), by_frames),
    "events": (lambda pair, declared, params: declared["name"].endswith("/WatchClusters"), by_events),
    "Unix HTTP": (lambda pair, declared, params: resource(declared["name"].split("/")[1], params) is not None, lambda *of: by_resource(*of, unix=True)),
}
