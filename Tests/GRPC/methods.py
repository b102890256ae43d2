# SPDX-License-Identifier: MIT
"""Calls every method by gRPC, with stubs made by protobuf's compiler.

Usage: methods.py GENERATED TARGET ARCHIVE, where GENERATED is a folder that has `protoc --python_out`'s output, TARGET is
such as unix:/run/clusterd/clusterd.sock or 127.0.0.1:8080, and ARCHIVE is a file below a directory of --export-dir.
"""
import json, queue, sys

sys.path.insert(0, sys.argv[1])
import grpc
from clusterd.v1 import clusterd_pb2 as pb
from google.protobuf import descriptor_pb2

TARGET, ARCHIVE = sys.argv[2], sys.argv[3]
channel = grpc.insecure_channel(TARGET, options=[("grpc.max_receive_message_length", 64 << 20)])


def stubs():
    made = {}
    for service in pb.DESCRIPTOR.services_by_name.values():
        declared = descriptor_pb2.ServiceDescriptorProto()
        service.CopyToProto(declared)
        for method in declared.method:
            kind = "_".join("stream" if streams else "unary" for streams in (method.client_streaming, method.server_streaming))
            request, response = (getattr(pb, name.rsplit(".", 1)[1]) for name in (method.input_type, method.output_type))
            made[method.name] = getattr(channel, kind)(
                f"/{service.full_name}/{method.name}", request_serializer=request.SerializeToString,
                response_deserializer=response.FromString)
    return made


grpc.channel_ready_future(channel).result(timeout=20)
call = stubs()


def expect(condition, what):
    if not condition:
        sys.exit(f"methods.py: {what}")


def failure(name, request, **options):
    """The error of a call that must fail."""
    try:
        answer = call[name](request, timeout=20, **options)
        list(answer) if not hasattr(answer, "ListFields") else None
    except grpc.RpcError as error:
        return error
    sys.exit(f"methods.py: {name} did not fail")


BOX = pb.BoundingBox(west=-180, south=-85, east=180, north=85)


def clusters(**more):
    return call["GetClusters"](pb.GetClustersRequest(source="points", bbox=BOX, zoom=1, **more), timeout=20)


def total(answer):
    return sum(f.cluster.point_count if f.HasField("cluster") else 1 for f in answer.features)


# The server.
expect(call["Check"](pb.CheckRequest()).status == pb.SERVING_STATUS_SERVING, "Check")
info = call["GetServerInfo"](pb.GetServerInfoRequest())
expect(info.name == "clusterd" and info.limits["http.maxHeadBytes"] > 0
       and "clusterd.v1.ClusterService/GetClusters" in [method.name for method in info.methods], f"GetServerInfo: {info}")
expect("points" not in json.loads(call["GetStats"](pb.GetStatsRequest()).stats_json).get("sources", {}), "GetStats")
expect("clusterd_uptime_seconds" in call["GetStats"](pb.GetStatsRequest(format=pb.STATS_FORMAT_PROMETHEUS)).prometheus,
       "GetStats for Prometheus")

# A source.
options = pb.SourceOptions(radius=50, cluster_properties=[pb.NamedExpression(name="sum", expression_json='["+",["get","n"]]')])
made = call["CreateSource"](pb.CreateSourceRequest(source="points", options=options)).description
expect(made.options.radius == 50 and made.options.cluster_properties[0].name == "sum"
       and made.state == pb.SOURCE_STATE_EMPTY, f"CreateSource: {made}")


def items():
    yield pb.ImportFeaturesRequest(open=pb.ImportFeaturesOpen(source="points", on_invalid=pb.ON_INVALID_SKIP))
    yield pb.ImportFeaturesRequest(features=pb.NewFeatures(features=[
        pb.NewFeature(id=pb.FeatureId(integer=n), position=pb.Position(longitude=n % 90, latitude=n % 45, further=[7]),
                      properties_json=json.dumps({"n": n, "name": f"é{n}"})) for n in range(500)]))
    yield pb.ImportFeaturesRequest(geojson=json.dumps({"type": "FeatureCollection", "features": [
        {"type": "Feature", "id": f"x{n}", "geometry": {"type": "Point", "coordinates": [n % 80, -(n % 40)]},
         "properties": {"n": n}} for n in range(500)]}).encode())
    yield pb.ImportFeaturesRequest(geojson=b'{"type":"Feature","id":18446744073709551615,"geometry":{"type":"Point",'
                                           b'"coordinates":[1.5,2.5]},"properties":null}\n{"type":"Feature","geometry":null}')


imported = call["ImportFeatures"](items(), timeout=20)
expect(imported.accepted == 1001 and imported.skipped == 1 and sum(imported.skipped_reasons.values()) == 1
       and imported.description.points == 1001 and imported.description.bbox.north == 44, f"ImportFeatures: {imported}")

# Queries.
answer = clusters(include=[pb.INCLUDE_BBOX, pb.INCLUDE_HULL, pb.INCLUDE_EXPANSION_ZOOM, pb.INCLUDE_KEY])
first = imported.description.revision
expect(total(answer) == 1001 and answer.revision == first, f"GetClusters: {total(answer)} of 1001 points")
cluster = next(f.cluster for f in answer.features if f.HasField("cluster"))
expect(cluster.HasField("expansion_zoom") and cluster.hull.coordinates and cluster.HasField("bbox")
       and "sum" in json.loads(cluster.properties_json) and answer.features[0].key, f"what a cluster includes: {cluster}")
structs = clusters(properties_format=pb.PROPERTIES_FORMAT_STRUCT)
for text, struct in zip(answer.features, structs.features):
    if text.HasField("cluster"):
        expect(json.loads(text.cluster.properties_json) == dict(struct.cluster.properties), "properties as Struct")
selected = clusters(properties=pb.PropertySelection())
expect(all(not f.cluster.properties_json for f in selected.features if f.HasField("cluster")), "no properties")
filtered = clusters(filter_json='["<",["get","n"],100]')
expect(total(filtered) == 200, f"a filter: {total(filtered)}")
children = call["GetChildren"](pb.GetChildrenRequest(source="points", cluster_id=cluster.id))
expect(total(children) == cluster.point_count, "GetChildren")
leaves = call["GetLeaves"](pb.GetLeavesRequest(source="points", cluster_id=cluster.id, limit=3))
expect(len(leaves.features) == 3 and leaves.total == cluster.point_count
       and leaves.features[0].point.HasField("id"), f"GetLeaves: {leaves}")
expect(call["GetClusterExpansionZoom"](
    pb.GetClusterExpansionZoomRequest(source="points", cluster_id=cluster.id)).zoom == cluster.expansion_zoom, "the zoom")
hull = call["GetConvexHull"](pb.GetConvexHullRequest(source="points", cluster_id=cluster.id))
expect(hull.hull == cluster.hull and hull.point_count == cluster.point_count, f"GetConvexHull: {hull}")
big = 18446744073709551615
located = call["LocateFeature"](
    pb.LocateFeatureRequest(source="points", feature_id=pb.FeatureId(unsigned_integer=big), zoom=16))
expect(located.feature.point.id.unsigned_integer == big and located.feature.longitude == 1.5
       and not located.feature.point.HasField("properties_json"), f"LocateFeature: {located}")
tile = call["GetTile"](pb.GetTileRequest(source="points", z=0, x=0, y=0))
expect(sum(f.cluster.point_count if f.HasField("cluster") else 1 for f in tile.features) >= 1001, "GetTile")
expect(len(call["GetTile"](pb.GetTileRequest(source="points", z=0, x=0, y=0, encoding=pb.TILE_ENCODING_MVT)).tile) > 50, "MVT")
expect(call["EvaluateExpression"](pb.EvaluateExpressionRequest(expression_json='["+",1,2]')).value_json == "3", "an expression")

# Changes.
changed = call["UpdateFeatures"](pb.UpdateFeaturesRequest(
    source="points", upsert=[pb.NewFeature(id=pb.FeatureId(text="new"), position=pb.Position(longitude=1, latitude=2))],
    remove=[pb.FeatureId(integer=3), pb.FeatureId(text="nosuch")]))
expect((changed.inserted, changed.removed, changed.missing, changed.description.revision) == (1, 1, 1, first + 1), f"{changed}")
expect(failure("GetClusters", pb.GetClustersRequest(source="points", bbox=BOX, zoom=0, revision=first)).code()
       == grpc.StatusCode.ABORTED, "an old revision")
updated = call["UpdateOptions"](pb.UpdateOptionsRequest(source="points", options=pb.SourceOptions(radius=80)))
expect(updated.description.options.radius == 80 and not updated.description.options.cluster_properties, f"{updated}")
expect(call["GetSource"](pb.GetSourceRequest(source="points")).description.points == 1001, "GetSource")
expect([s.source for s in call["ListSources"](pb.ListSourcesRequest()).sources] == ["points"], "ListSources")

# Streams.
pages = list(call["GetFeatures"](pb.GetFeaturesRequest(source="points"), timeout=20))
expect(sum(len(page.page.features) for page in pages) == 1001 and pages[-1].done.features == 1001, f"{pages[-1]}")
archive = list(call["PublishTiles"](pb.PublishTilesRequest(source="points", path=ARCHIVE, max_zoom=3, overwrite=True), timeout=60))
expect(archive[-1].done.tiles > 0 and archive[-1].done.path == ARCHIVE, f"PublishTiles: {archive[-1]}")
viewports = queue.Queue()
viewports.put(pb.WatchClustersRequest(open=pb.WatchClustersOpen(
    view=pb.GetClustersRequest(source="points", bbox=BOX, zoom=0), max_rate_hz=100)))
watch = call["WatchClusters"](iter(viewports.get, None), timeout=60)
shown = {}


def follow():
    change = next(watch)
    for marker in change.remove:
        del shown[marker.key]
    for marker in list(change.update) + list(change.add):
        shown[marker.key] = marker
    expect(change.keep <= len(shown), f"{change.keep} kept of {len(shown)}")
    return change


def agrees(zoom):
    answer = call["GetClusters"](pb.GetClustersRequest(source="points", bbox=BOX, zoom=zoom))
    place = lambda f: (f.longitude, f.latitude, f.cluster.point_count)
    expect(sorted(map(place, shown.values())) == sorted(map(place, answer.features)), f"the watch differs at zoom {zoom}")


expect(follow().revision == first + 2, "the first change")
agrees(0)
viewports.put(pb.WatchClustersRequest(viewport=pb.WatchClustersViewport(bbox=BOX, zoom=3)))
follow()
agrees(3)
call["UpdateFeatures"](pb.UpdateFeaturesRequest(source="points", remove=[pb.FeatureId(text="new")]))
expect(follow().revision == first + 3, "a change of the data")
agrees(3)
viewports.put(None)
expect(list(watch) == [] and watch.code() == grpc.StatusCode.OK, "the end of a watch")

# Errors.
error = failure("GetClusters", pb.GetClustersRequest(source="nosuch", bbox=BOX, zoom=0))
details = dict(error.trailing_metadata())["grpc-status-details-bin"]
expect(error.code() == grpc.StatusCode.NOT_FOUND and "nosuch" in error.details() and b"google.rpc.ErrorInfo" in details
       and b"NOT_FOUND" in details, f"{error.code()} {error.details()} {details}")
error = failure("GetClusters", pb.GetClustersRequest(source="points", zoom=0))
details = dict(error.trailing_metadata())["grpc-status-details-bin"]
expect(error.code() == grpc.StatusCode.INVALID_ARGUMENT and b"params.bbox" in details, f"a missing box: {details}")
error = failure("TopFeatures", pb.TopFeaturesRequest(source="points", bbox=BOX, by="n"))
expect(error.code() == grpc.StatusCode.INVALID_ARGUMENT and "n" in error.details(), f"what is not indexed: {error.details()}")


def endless():
    yield pb.ImportFeaturesRequest(open=pb.ImportFeaturesOpen(source="points"))
    queue.Queue().get(timeout=20)


try:
    call["ImportFeatures"](endless(), timeout=0.3)
    expect(False, "an import that never ends")
except grpc.RpcError as error:
    expect(error.code() == grpc.StatusCode.DEADLINE_EXCEEDED, f"a deadline: {error.code()}")
expect(call["GetSource"](pb.GetSourceRequest(source="points")).description.revision == first + 3, "an import that was cancelled")

# Windows, pins, tops and densities, of a source and of its view.
call["CreateSource"](pb.CreateSourceRequest(source="places", options=pb.SourceOptions(
    indexed_properties=[pb.NamedExpression(name="n", expression_json='["get","n"]')],
    views=[pb.View(name="wide", options=pb.SourceOptions(radius=200))])))
numbers = [n * 37 % 300 for n in range(300)]
call["UpdateFeatures"](pb.UpdateFeaturesRequest(source="places", upsert=[pb.NewFeature(
    id=pb.FeatureId(integer=n), position=pb.Position(longitude=n % 20, latitude=n // 20),
    properties_json=json.dumps({"n": number})) for n, number in enumerate(numbers)]))
for name in ["places", "places:wide"]:
    window = pb.Window(property="n", lower=30, upper=90)
    shown_then = call["GetClusters"](pb.GetClustersRequest(
        source=name, bbox=BOX, zoom=2, window=window, pin=[pb.FeatureId(integer=1), pb.FeatureId(text="nosuch")],
        include=[pb.INCLUDE_TOP], top_by="-n"))
    pinned = [f.point.id.integer for f in shown_then.features if f.HasField("point") and f.point.pinned]
    inside = [n for n, number in enumerate(numbers) if 30 <= number < 90]
    expect(pinned == [1] and total(shown_then) == len(inside), f"{name}: {total(shown_then)} in a window, pinned {pinned}")
    for f in shown_then.features:
        if f.HasField("cluster"):
            least = json.loads(f.cluster.top.point.properties_json)["n"]
            expect(30 <= least < 90 and f.cluster.total_count >= f.cluster.point_count, f"{name}: a cluster in a window: {f.cluster}")
    tops = call["TopFeatures"](pb.TopFeaturesRequest(source=name, bbox=BOX, by="n", limit=3, window=window))
    expect([json.loads(f.point.properties_json)["n"] for f in tops.features] == [89, 88, 87], f"{name}: TopFeatures {tops}")
    counted = call["GetHistogram"](pb.GetHistogramRequest(source=name, bbox=BOX, property="n", edges=pb.BinEdges(values=[10, 20, 40])))
    expect((list(counted.counts), counted.below, counted.above, counted.missing) == ([10, 21], 10, 259, 0), f"{name}: {counted}")
    grid = call["GetGrid"](pb.GetGridRequest(source=name, bbox=BOX, resolution=6, window=window))
    expect(sum(grid.point_counts) == len(inside) and len(grid.x) == len(grid.y) == len(grid.point_counts) > 3, f"{name}: {grid}")
call["DeleteSource"](pb.DeleteSourceRequest(source="places"))

# A log, followed exactly once: what is sent again is left out.
call["CreateSource"](pb.CreateSourceRequest(source="fleet"))
log = [pb.Change(position=f"{n:04}", upsert=[pb.NewFeature(id=pb.FeatureId(text=f"v{n % 7}"), position=pb.Position(
    longitude=n, latitude=0))], remove=[pb.FeatureId(text="v0")] if n == 20 else []) for n in range(1, 41)]


def follow_log(until):
    changes = queue.Queue()
    changes.put(pb.ApplyChangesRequest(open=pb.ApplyChangesOpen(source="fleet", log="positions")))
    answers = call["ApplyChanges"](iter(changes.get, None), timeout=20)
    known = next(answers)
    began = known.position if known.HasField("position") else ""
    for change in log[:until]:
        if change.position > began:
            changes.put(pb.ApplyChangesRequest(change=change))
    changes.put(None)
    counts = list(answers)
    return began, counts[-1].position, sum(c.inserted + c.updated + c.skipped for c in counts), sum(c.removed for c in counts)


expect(follow_log(25) == ("", "0025", 25, 1), "ApplyChanges")
expect(follow_log(40) == ("0025", "0040", 15, 0), "ApplyChanges after an interruption")
followed = call["GetSource"](pb.GetSourceRequest(source="fleet")).description
expect(followed.points == 7, f"what the log has made: {followed}")
found = call["GetClusters"](pb.GetClustersRequest(source="fleet", bbox=BOX, zoom=0, at_least="0040"))
expect(found.position == "0040", f"the position of an answer: {found.position!r}")
call["DeleteSource"](pb.DeleteSourceRequest(source="fleet"))

# Compression.
for kind in (grpc.Compression.Gzip, grpc.Compression.Deflate):
    packed = call["GetClusters"](pb.GetClustersRequest(source="points", bbox=BOX, zoom=5), compression=kind, timeout=20)
    expect(total(packed) == 1000, f"{kind}: {total(packed)}")

# Health and reflection.
def raw(path, kind="unary_unary"):
    return getattr(channel, kind)(path, request_serializer=lambda b: b, response_deserializer=lambda b: b)


check = raw("/grpc.health.v1.Health/Check")
expect(check(b"") == b"\x08\x01" and check(b"\x0a\x0esources/points") == b"\x08\x01", "health")
try:
    check(b"\x0a\x0esources/nosuch")
    expect(False, "the health of no source")
except grpc.RpcError as error:
    expect(error.code() == grpc.StatusCode.NOT_FOUND, f"the health of no source: {error.code()}")
health = raw("/grpc.health.v1.Health/Watch", "unary_stream")(b"\x0a\x0esources/points", timeout=20)
expect(next(health) == b"\x08\x01", "the watched health")
for version in ("v1", "v1alpha"):
    reflect = raw(f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo", "stream_stream")
    answers = list(reflect(iter([b"\x3a\x00", b"\x22\x1aclusterd.v1.ClusterService"]), timeout=20))
    expect(b"clusterd.v1.SourceService" in answers[0] and b"GetClustersRequest" in answers[1], f"reflection {version}")
call["DeleteSource"](pb.DeleteSourceRequest(source="points"))
expect(next(health) == b"\x08\x03", "the health of a source that is gone")
print("ok")
