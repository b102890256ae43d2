# SPDX-License-Identifier: MIT
"""Calls the daemon as Connect's clients do, over HTTP/1.1, with messages that protobuf's own library makes and reads.

Usage: connect.py GENERATED HOST PORT, where GENERATED is a folder that has `protoc --python_out`'s output, and the callers
over TCP have the right "admin".
"""
import base64, gzip, http.client, json, struct, sys, urllib.parse

sys.path.insert(0, sys.argv[1])
from clusterd.v1 import clusterd_pb2 as pb
from google.protobuf import json_format

HOST, PORT = sys.argv[2], int(sys.argv[3])
CLUSTER, SOURCE = "/clusterd.v1.ClusterService/", "/clusterd.v1.SourceService/"


def request(method, path, body=None, **fields):
    connection = http.client.HTTPConnection(HOST, PORT, timeout=20)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in fields.items()})
    response = connection.getresponse()
    return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()


def envelope(message, flag=0):
    return struct.pack(">BI", flag, len(message)) + message


def envelopes(body):
    while body:
        flag, count = struct.unpack(">BI", body[:5])
        yield flag, body[5:5 + count]
        body = body[5 + count:]


def expect(condition, what):
    if not condition:
        sys.exit(f"connect.py: {what}")


BOX = pb.BoundingBox(west=-180, south=-85, east=180, north=85)
VIEW = pb.GetClustersRequest(source="points", bbox=BOX, zoom=1)

# A client's stream, as JSON and as protobuf.
features = [{"position": {"longitude": n % 90, "latitude": n % 45}, "id": {"integer": str(n)},
             "propertiesJson": json.dumps({"n": n})} for n in range(300)]
status, head, body = request("POST", SOURCE + "CreateSource", json.dumps({"source": "points"}),
                             content_type="application/json", connect_protocol_version="1")
expect(status == 200 and json.loads(body)["description"]["source"] == "points", f"CreateSource: {status} {body}")
messages = envelope(b'{"open":{"source":"points"}}') + envelope(json.dumps({"features": {"features": features}}).encode())
status, head, body = request("POST", SOURCE + "ImportFeatures", messages, content_type="application/connect+json")
parts = list(envelopes(body))
expect(status == 200 and [flag for flag, _ in parts] == [0, 2] and json.loads(parts[0][1])["accepted"] == "300"
       and json.loads(parts[1][1]) == {}, f"ImportFeatures by JSON: {status} {body}")
more = pb.NewFeature(id=pb.FeatureId(text="x"), position=pb.Position(longitude=1, latitude=2))
messages = [pb.ImportFeaturesRequest(open=pb.ImportFeaturesOpen(source="points", mode=pb.IMPORT_MODE_APPEND)),
            pb.ImportFeaturesRequest(features=pb.NewFeatures(features=[more])),
            pb.ImportFeaturesRequest(geojson=b'{"type":"FeatureCollection","features":[]}')]
status, head, body = request("POST", SOURCE + "ImportFeatures", b"".join(envelope(m.SerializeToString()) for m in messages),
                             content_type="application/connect+proto")
parts = list(envelopes(body))
expect(status == 200 and pb.ImportFeaturesResponse.FromString(parts[0][1]).description.points == 301,
       f"ImportFeatures by protobuf: {status} {body}")

# Unary calls.
def view(**fields):
    status, head, body = request("POST", CLUSTER + "GetClusters", VIEW.SerializeToString(),
                                 content_type="application/proto", **fields)
    expect(status == 200 and head["content-type"] == "application/proto", f"GetClusters: {status} {head} {body}")
    return head, body


head, body = view()
clusters = pb.GetClustersResponse.FromString(body)
expect(sum(f.cluster.point_count if f.HasField("cluster") else 1 for f in clusters.features) == 301, "points are missing")
head, body = view(accept_encoding="gzip")
expect(head.get("content-encoding") == "gzip" or len(body) < 1000, "the answer is not compressed")
status, head, body = request("POST", CLUSTER + "GetClusters", gzip.compress(VIEW.SerializeToString()),
                             content_type="application/proto", content_encoding="gzip")
expect(status == 200 and pb.GetClustersResponse.FromString(body) == clusters, f"a compressed request: {status}")
status, head, body = request("POST", CLUSTER + "GetClusters", json_format.MessageToJson(VIEW),
                             content_type="application/json", connect_protocol_version="1")
expect(json_format.Parse(body, pb.GetClustersResponse()) == clusters, f"GetClusters as JSON differs: {body[:300]}")
status, head, body = request("POST", CLUSTER + "GetClusters", '{"source":"points","bbox":[-180,-85,180,85],"zoom":1}',
                             content_type="application/json")
expect(status == 200 and json.loads(body)["type"] == "FeatureCollection", f"the JSON contract: {status} {body[:200]}")

# By GET, with a tag.
message = base64.urlsafe_b64encode(VIEW.SerializeToString()).decode().rstrip("=")
path = CLUSTER + f"GetClusters?connect=v1&encoding=proto&base64=1&message={message}"
status, head, body = request("GET", path)
expect(status == 200 and pb.GetClustersResponse.FromString(body) == clusters and "etag" in head, f"GET: {status} {head}")
status, _, _ = request("GET", path, if_none_match=head["etag"])
expect(status == 304, f"a known answer: {status}")
text = urllib.parse.quote(json_format.MessageToJson(VIEW))
status, head, body = request("GET", CLUSTER + f"GetClusters?connect=v1&encoding=json&message={text}")
expect(json_format.Parse(body, pb.GetClustersResponse()) == clusters, f"GET as JSON: {status} {body[:200]}")
status, head, body = request("GET", SOURCE + "DeleteSource?connect=v1&encoding=json&message=%7B%7D")
expect(status == 405 and "POST" in head["allow"], f"GET of a change: {status}")

# The daemon's stream.
for kind, read in [("proto", pb.GetFeaturesResponse.FromString),
                   ("json", lambda text: json_format.Parse(text, pb.GetFeaturesResponse()))]:
    asked = pb.GetFeaturesRequest(source="points")
    message = asked.SerializeToString() if kind == "proto" else json_format.MessageToJson(asked).encode()
    status, head, body = request("POST", SOURCE + "GetFeatures", envelope(message), content_type=f"application/connect+{kind}")
    parts = list(envelopes(body))
    pages = [read(part) for flag, part in parts if flag == 0]
    expect(sum(len(page.page.features) for page in pages) == 301 and pages[-1].done.features == 301
           and json.loads(parts[-1][1]) == {} and parts[-1][0] == 2, f"GetFeatures: {status} {body[:300]}")

# Errors.
status, head, body = request("POST", CLUSTER + "GetClusters", '{"source":"points","colour":"red"}',
                             content_type="application/json", connect_protocol_version="1")
error = json.loads(body)
expect(status == 400 and error["code"] == "invalid_argument" and "colour" in error["message"]
       and error["details"][0]["type"] == "google.rpc.ErrorInfo", f"an unknown member: {status} {body}")
status, head, body = request("POST", SOURCE + "GetFeatures", envelope(b'{"source":"nosuch"}'),
                             content_type="application/connect+json")
parts = list(envelopes(body))
expect(status == 200 and parts[0][0] == 2 and json.loads(parts[0][1])["error"]["code"] == "not_found",
       f"a stream of nothing: {status} {body}")
for path, kind, expected in [(CLUSTER + "WatchClusters", "application/connect+json", 505),
                           (CLUSTER + "GetClusters", "application/connect+proto", 415),
                           (SOURCE + "GetFeatures", "application/proto", 415),
                           (CLUSTER + "GetClusters", "application/x-protobuf", 415),
                           (CLUSTER + "NoSuch", "application/proto", 501)]:
    status, head, body = request("POST", path, b"", content_type=kind)
    expect(status == expected, f"{path} as {kind}: {status} {body}")
status, head, body = request("POST", CLUSTER + "GetClusters", b"\xff\xff", content_type="application/proto")
expect(status == 400, f"no protobuf: {status} {body}")
status, head, body = request("POST", CLUSTER + "GetClusters", VIEW.SerializeToString(), content_type="application/proto",
                             connect_timeout_ms="x")
expect(status == 400, f"a malformed timeout: {status} {body}")
status, head, body = request("POST", SOURCE + "GetFeatures", envelope(b'{"source":"points"}'),
                             content_type="application/connect+json", connect_timeout_ms="x")
parts = list(envelopes(body))
expect(parts[0][0] == 2 and json.loads(parts[0][1])["error"]["code"] == "invalid_argument",
       f"a malformed timeout of a stream: {status} {body}")
status, head, body = request("GET", CLUSTER + "GetClusters?connect=v1&encoding=proto&base64=1&message=%3F")
expect(status == 400 and isinstance(json.loads(body)["details"], list), f"a message that is not base64: {status} {body}")
# A small query may inflate to much: it is read elsewhere, and others are answered meanwhile.
box = {"west": 0, "south": 0, "east": 1, "north": 1}
pins = gzip.compress(json.dumps({"source": "points", "bbox": box, "zoom": 1, "pin": [{}] * 200000}).encode())
packed = base64.urlsafe_b64encode(pins).decode()
status, head, body = request(
    "GET", CLUSTER + f"GetClusters?connect=v1&encoding=json&compression=gzip&base64=1&message={packed}")
expect(status == 400 and "pin" in json.loads(body)["message"], f"a message that inflates: {status} {body[:200]}")
print("ok")
