# SPDX-License-Identifier: MIT
"""Streams that end when nobody expects it: what was found by a review, each case once.

Usage: streams.py GENERATED HOST PORT, for a daemon whose callers over TCP have the right "admin".
"""
import gzip, http.client, json, socket, struct, sys, time

sys.path.insert(0, sys.argv[1])
generated = sys.argv.pop(1)
from http2_hostility import (ACK, CANCEL, DATA, END_HEADERS, END_STREAM, HEADERS, HOST, PORT, RST, SETTINGS, WINDOW, Client,
                             check_serves, frame)
from clusterd.v1 import clusterd_pb2 as pb

WATCH = "/clusterd.v1.ClusterService/WatchClusters"
BOX = pb.BoundingBox(west=-180, south=-85, east=180, north=85)
VIEW = pb.GetClustersRequest(source="points", bbox=BOX, zoom=0)


def envelope(message):
    return struct.pack(">BI", 0, len(message)) + message


def ask(method, path, body=None, **fields):
    connection = http.client.HTTPConnection(HOST, PORT, timeout=20)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in fields.items()})
    response = connection.getresponse()
    return response.status, response.read()


def statistics():
    return json.loads(ask("POST", "/clusterd.v1.ServerService/GetStats", "{}", content_type="application/json")[1])


def until(what, condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def setup():
    ask("POST", "/clusterd.v1.SourceService/CreateSource", '{"source":"points"}', content_type="application/json")
    features = [{"type": "Feature", "id": n, "geometry": {"type": "Point", "coordinates": [n % 170, n % 80]},
                 "properties": {}} for n in range(1000)]
    status, body = ask("PUT", "/sources/points/features", json.dumps({"type": "FeatureCollection", "features": features}))
    assert status == 200, body


def case_a_large_message_that_is_wrong_while_more_is_to_come():
    """It is read on the pool, and its call has ended when that is done."""
    client = socket.create_connection((HOST, PORT), timeout=20)
    body = envelope(b"\xff" * (300 << 10))
    client.sendall(f"POST /clusterd.v1.SourceService/GetFeatures HTTP/1.1\r\nHost: {HOST}:{PORT}\r\nContent-Type: "
                   f"application/connect+proto\r\nTransfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n".encode() + body)
    assert b"invalid_argument" in client.recv(4000)


def case_an_item_that_ends_its_call_while_it_is_read():
    client = Client()
    opening = pb.WatchClustersRequest(open=pb.WatchClustersOpen(view=VIEW))
    stream = client.open(WATCH, envelope(opening.SerializeToString()), end=False)
    assert client.until(lambda f: f[0] == DATA and f[2] == stream), "no first change"
    moved = pb.WatchClustersRequest(viewport=pb.WatchClustersViewport(zoom=1))
    client.send(frame(DATA, 0, stream, envelope(moved.SerializeToString())))
    ending = client.ending(stream)
    assert ending["grpc-status"] == "3" and "bbox" in ending["grpc-message"], ending
    check_serves(client, "after a viewport without a box")


def case_watches_that_are_reset():
    client = Client()
    client.send(frame(WINDOW, 0, 0, struct.pack(">I", 1 << 24)))
    fields = [(":method", "GET"), (":scheme", "http"), (":path", "/sources/points/watch?zoom=0"),
              (":authority", f"{HOST}:{PORT}"), ("accept", "text/event-stream")]
    for _ in range(50):
        stream, client.next = client.next, client.next + 2
        client.send(frame(HEADERS, END_HEADERS | END_STREAM, stream, client.encoder.encode(fields)))
        assert client.until(lambda f: f[0] == DATA and f[2] == stream), "no event"
        client.send(frame(RST, 0, stream, struct.pack(">I", CANCEL)))
    until("watches that were reset are still in flight", lambda: statistics()["calls"]["inFlight"] == 0)


def case_connect_in_both_directions():
    client = Client()
    opening = envelope(pb.WatchClustersRequest(open=pb.WatchClustersOpen(view=VIEW, max_rate_hz=100)).SerializeToString())
    stream = client.open(WATCH, opening, end=False, kind="application/connect+proto")
    assert client.until(lambda f: f[0] == DATA and f[2] == stream and f[3]), "no first change"
    moved = pb.WatchClustersRequest(viewport=pb.WatchClustersViewport(bbox=BOX, zoom=3))
    client.send(frame(DATA, 0, stream, envelope(moved.SerializeToString())))
    assert client.until(lambda f: f[0] == DATA and f[2] == stream and f[3]), "no change after a viewport"
    client.send(frame(DATA, END_STREAM, stream))
    body = b""
    while True:
        got = client.until(lambda f: f[2] == stream)
        assert got is not None and got[0] == DATA, got
        body += got[3]
        if got[1] & END_STREAM:
            break
    assert body.endswith(b"\x02\0\0\0\x02{}"), body[-40:]


def case_a_deadline_before_the_first_message():
    """Connect's deadline covers the wait for the message that opens the call."""
    end = b'"code":"deadline_exceeded"'
    kind = "application/connect+proto"
    for path in ("/clusterd.v1.SourceService/GetFeatures", "/clusterd.v1.SourceService/ImportFeatures"):
        client = socket.create_connection((HOST, PORT), timeout=20)
        client.sendall(f"POST {path} HTTP/1.1\r\nHost: {HOST}:{PORT}\r\nContent-Type: {kind}\r\nConnect-Timeout-Ms: 50\r\n"
                       f"Transfer-Encoding: chunked\r\n\r\n".encode())
        answer = b""
        while part := client.recv(4000):
            answer += part
        assert end in answer, answer
    client = Client()
    stream = client.open(WATCH, body=None, kind=kind, extra=[("connect-timeout-ms", "50")])
    body = b""
    while (got := client.until(lambda f: f[2] == stream)) is not None and got[0] != RST:
        body += got[3] if got[0] == DATA else b""
        if got[1] & END_STREAM:
            break
    assert end in body, (got, body)


def case_params_that_wait_for_their_client():
    """They are counted, and given back."""
    request = pb.GetClustersRequest(source="points", bbox=BOX, zoom=0, filter_json='["in",["get","n"],["literal",["'
                                    + "x" * 200000 + '"]]]').SerializeToString()
    message = gzip.compress(request)
    client = Client()
    for _ in range(20):
        client.open("/clusterd.v1.ClusterService/GetClusters", struct.pack(">BI", 1, len(message)) + message, end=False,
                    extra=[("grpc-encoding", "gzip")])
    until("waiting params are not counted", lambda: statistics()["bytes"]["input"] > 20 * len(request))
    client.socket.close()
    until("params of clients that have gone are counted", lambda: statistics()["bytes"]["input"] == 0)


def case_questions_whose_answers_are_not_read():
    client = Client(settings=struct.pack(">HI", 4, 0))
    # Field 4 of a ServerReflectionRequest, a symbol.
    symbol = b"clusterd.v1.ClusterService"
    message = envelope(b"\x22" + bytes([len(symbol)]) + symbol)
    stream = client.open("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", message * 300, end=False)
    time.sleep(0.5)
    assert statistics()["bytes"]["queued"] < 1 << 20, "answers are made that nobody reads"
    client.send(frame(SETTINGS, ACK, 0) + frame(WINDOW, 0, stream, struct.pack(">I", 1 << 24))
                + frame(WINDOW, 0, 0, struct.pack(">I", 1 << 24)))
    count = 0
    while count < 300 * 20000:
        got = client.until(lambda f: f[0] == DATA)
        assert got is not None, "the answers do not go on"
        count += len(got[3])


if __name__ == "__main__":
    setup()
    for name in [name for name in globals() if name.startswith("case_")]:
        globals()[name]()
        check_serves(Client(), f"after {name[5:]}")
        print(f"{name[5:]}: ok", flush=True)
