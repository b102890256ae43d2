"""Requests made by protobuf's own classes for Python, each with what it is in the JSON contract.

    requests.py FOLDER    the folder has the modules that protoc made

Prints a JSON object for each: method, the message in hexadecimal, and the expected part or the expected error.
"""
import json, sys

sys.path.insert(0, sys.argv[1])
from clusterd.v1 import clusterd_pb2 as pb
from google.protobuf.struct_pb2 import Struct

CLUSTER, SOURCE, SERVER = "ClusterService/", "SourceService/", "ServerService/"


def case(method, message, **expected):
    data = message if isinstance(message, bytes) else message.SerializeToString(deterministic=True)
    print(json.dumps({"method": "clusterd.v1." + method, "hex": data.hex(), **expected}))


def opens(method, message, params, text=None, struct=False):
    case(method, message, open=params, text=text or "", struct=struct)


def struct(**members):
    value = Struct()
    value.update(members)
    return value


BOX = pb.BoundingBox(west=-10.5, south=-20, east=0, north=90)
IDS = [pb.FeatureId(integer=7), pb.FeatureId(text="a\"b"), pb.FeatureId(number=1.5)]

# ClusterService
opens(CLUSTER + "GetClusters", pb.GetClustersRequest(), {})
opens(CLUSTER + "GetClusters", pb.GetClustersRequest(source="cities", bbox=BOX, zoom=0, limit=0),
      {"source": "cities", "bbox": [-10.5, -20, 0, 90], "zoom": 0, "limit": 0})
opens(CLUSTER + "GetClusters", pb.GetClustersRequest(
    source="cities:food", bbox=pb.BoundingBox(), zoom=3.5, limit=100, filter_json='["==", ["get", "a"], "x"]',
    window=pb.Window(property="time", lower=5), properties=pb.PropertySelection(names=["a", "é"]),
    properties_format=pb.PROPERTIES_FORMAT_STRUCT, precision=0,
    include=[pb.INCLUDE_EXPANSION_ZOOM, pb.INCLUDE_KEY, pb.INCLUDE_BBOX], top_by="-size", revision=1 << 53,
    at_least="16/B374D848"),
    {"source": "cities:food", "bbox": [0, 0, 0, 0], "zoom": 3.5, "limit": 100, "filter": ["==", ["get", "a"], "x"],
     "window": {"time": [5, None]}, "properties": ["a", "é"], "precision": 0,
     "include": ["expansionZoom", "key", "bbox"], "topBy": "-size", "revision": 1 << 53, "atLeast": "16/B374D848"},
    struct=True)
opens(CLUSTER + "GetClusters", pb.GetClustersRequest(
    properties=pb.PropertySelection(), properties_format=pb.PROPERTIES_FORMAT_JSON, filter_json="true",
    window=pb.Window(property="a", lower=0, upper=0), pin=IDS),
    {"properties": [], "filter": True, "window": {"a": [0, 0]}, "pin": [7, 'a"b', 1.5]},
    '{"filter":true,"window":{"a":[0,0]},"pin":[7,"a\\"b",1.5],"properties":[]}')
opens(CLUSTER + "GetTile", pb.GetTileRequest(source="a"), {"source": "a", "z": 0, "x": 0, "y": 0})
opens(CLUSTER + "GetTile", pb.GetTileRequest(source="a", z=30, x=5, y=(1 << 30) - 1, encoding=pb.TILE_ENCODING_MVT, grid=3),
      {"source": "a", "z": 30, "x": 5, "y": (1 << 30) - 1, "encoding": "mvt", "grid": 3})
opens(CLUSTER + "GetTile", pb.GetTileRequest(encoding=pb.TILE_ENCODING_FEATURES),
      {"z": 0, "x": 0, "y": 0, "encoding": "json"})
opens(CLUSTER + "GetChildren", pb.GetChildrenRequest(source="a", cluster_id=163, zoom=2),
      {"source": "a", "clusterId": 163, "zoom": 2})
opens(CLUSTER + "GetLeaves", pb.GetLeavesRequest(source="a", limit=0, offset=20),
      {"source": "a", "clusterId": 0, "limit": 0, "offset": 20})
opens(CLUSTER + "GetClusterExpansionZoom", pb.GetClusterExpansionZoomRequest(source="a", cluster_id=1 << 40),
      {"source": "a", "clusterId": 1 << 40})
opens(CLUSTER + "GetConvexHull", pb.GetConvexHullRequest(source="a", cluster_id=1, revision=0),
      {"source": "a", "clusterId": 1, "revision": 0})
for identifier, value, text in [
    (pb.FeatureId(integer=-5), -5, "-5"), (pb.FeatureId(integer=0), 0, "0"), (pb.FeatureId(text=""), "", '""'),
    (pb.FeatureId(integer=9007199254740993), 9007199254740992, "9007199254740993"),
    (pb.FeatureId(integer=-1 << 63), -1 << 63, "-9223372036854775808"),
    (pb.FeatureId(unsigned_integer=(1 << 64) - 1), float((1 << 64) - 1), "18446744073709551615"),
    (pb.FeatureId(number=1), 1, "1"), (pb.FeatureId(number=2.5e-7), 2.5e-7, "2.5e-7"),
    (pb.FeatureId(text="Tōkyō\n"), "Tōkyō\n", '"Tōkyō\\n"'),
]:
    opens(CLUSTER + "LocateFeature", pb.LocateFeatureRequest(source="a", feature_id=identifier, zoom=1),
          {"source": "a", "featureId": value, "zoom": 1}, '{"source":"a","featureId":%s,"zoom":1}' % text)
opens(CLUSTER + "LocateFeature", pb.LocateFeatureRequest(feature_id=pb.FeatureId()), {})
opens(CLUSTER + "TopFeatures", pb.TopFeaturesRequest(source="a", bbox=BOX, by="-size", limit=5),
      {"source": "a", "bbox": [-10.5, -20, 0, 90], "by": "-size", "limit": 5})
opens(CLUSTER + "GetHistogram", pb.GetHistogramRequest(property="size", edges=pb.BinEdges(values=[0, 1, 2.5])),
      {"property": "size", "edges": [0, 1, 2.5]})
opens(CLUSTER + "GetHistogram", pb.GetHistogramRequest(bins=10), {"bins": 10})
opens(CLUSTER + "GetGrid", pb.GetGridRequest(source="a", resolution=0), {"source": "a", "resolution": 0})
opens(CLUSTER + "WatchClusters", pb.WatchClustersRequest(open=pb.WatchClustersOpen(
    view=pb.GetClustersRequest(source="a", bbox=BOX, zoom=1, properties_format=2), max_rate_hz=0.5, transitions=True)),
    {"source": "a", "bbox": [-10.5, -20, 0, 90], "zoom": 1, "maxRateHz": 0.5, "transitions": True}, struct=True)
opens(CLUSTER + "WatchClusters", pb.WatchClustersRequest(open=pb.WatchClustersOpen()), {})
case(CLUSTER + "WatchClusters", pb.WatchClustersRequest(viewport=pb.WatchClustersViewport(bbox=BOX, zoom=0)),
     item='{"bbox":[-10.5,-20,0,90],"zoom":0}')
case(CLUSTER + "WatchClusters", pb.WatchClustersRequest(viewport=pb.WatchClustersViewport(
    zoom=1, window=pb.Window(), pin=pb.PinnedFeatures())), item='{"zoom":1,"window":null,"pin":[]}')
case(CLUSTER + "WatchClusters", pb.WatchClustersRequest(viewport=pb.WatchClustersViewport(
    window=pb.Window(property="a"), pin=pb.PinnedFeatures(ids=[pb.FeatureId(integer=9007199254740993)]))),
    item='{"window":{"a":[null,null]},"pin":[9007199254740993]}')

# SourceService
opens(SOURCE + "CreateSource", pb.CreateSourceRequest(source="a"), {"source": "a"})
opens(SOURCE + "CreateSource", pb.CreateSourceRequest(source="a", options=pb.SourceOptions()), {"source": "a", "options": {}})
opens(SOURCE + "CreateSource", pb.CreateSourceRequest(source="a", options=pb.SourceOptions(
    radius=0, extent=256, min_zoom=0, max_zoom=20, min_points=3, generate_id=False,
    cluster_properties=[pb.NamedExpression(name="sum", expression_json='["+",["get","n"]]'),
                        pb.NamedExpression(name="any", expression_json='["any",true]')],
    filter_json="true", promote_id="key", weight_json='["get","w"]', partition_by_json='["get","p"]',
    precision=pb.POSITION_PRECISION_DOUBLE, ttl_seconds=1.5, sort_key_json='["id"]', cluster_ids=pb.CLUSTER_IDS_ORIGIN,
    planar=pb.BoundingBox(east=100, north=50), geometries=pb.GEOMETRIES_MULTIPOINT,
    indexed_properties=[pb.NamedExpression(name="time", expression_json='["get","t"]')],
    views=[pb.View(name="food", options=pb.SourceOptions(radius_json='["zoom"]', precision=1), left_out=["filter", "weight"]),
           pb.View(name="all")])),
    {"source": "a", "options": {
        "radius": 0, "extent": 256, "minZoom": 0, "maxZoom": 20, "minPoints": 3, "generateId": False,
        "clusterProperties": {"sum": ["+", ["get", "n"]], "any": ["any", True]}, "filter": True, "promoteId": "key",
        "weight": ["get", "w"], "partitionBy": ["get", "p"], "precision": "double", "ttlSeconds": 1.5, "sortKey": ["id"],
        "clusterIds": "origin", "projection": {"planar": [0, 0, 100, 50]}, "geometries": "multipoint",
        "indexedProperties": {"time": ["get", "t"]},
        "views": {"food": {"radius": ["zoom"], "precision": "float", "filter": None, "weight": None}, "all": {}}}})
opens(SOURCE + "UpdateOptions", pb.UpdateOptionsRequest(source="a", options=pb.SourceOptions(radius=5)),
      {"source": "a", "options": {"radius": 5}})
opens(SOURCE + "ImportFeatures", pb.ImportFeaturesRequest(open=pb.ImportFeaturesOpen(
    source="a", mode=pb.IMPORT_MODE_APPEND, on_invalid=pb.ON_INVALID_SKIP, wrap=True, allow_empty=True)),
    {"source": "a", "mode": "append", "onInvalid": "skip", "wrap": True, "allowEmpty": True})
opens(SOURCE + "ImportFeatures", pb.ImportFeaturesRequest(open=pb.ImportFeaturesOpen(source="a")), {"source": "a"})
case(SOURCE + "ImportFeatures", pb.ImportFeaturesRequest(geojson=b'{"type":"FeatureCollection"}'),
     geojson='{"type":"FeatureCollection"}')
case(SOURCE + "ImportFeatures", pb.ImportFeaturesRequest(features=pb.NewFeatures()), geojson="[]")
FEATURES = [
    pb.NewFeature(id=pb.FeatureId(unsigned_integer=1 << 63), position=pb.Position(longitude=1.5, latitude=-2, further=[3, 4.25]),
                  properties_json='{"a": 1.0, "b":[ ]}', members_json='{"bbox": [1,2,3,4], "x":null}'),
    pb.NewFeature(geometry_json='{"type":"MultiPoint","coordinates":[]}',
                  properties=struct(n=3, list=[True, None, "x"], deep={"a": {"b": "c"}})),
    pb.NewFeature(),
    pb.NewFeature(id=pb.FeatureId(text="k"), position=pb.Position(longitude=float("nan")), properties_json="{}"),
]
TEXTS = [
    '{"type":"Feature","id":9223372036854775808,"geometry":{"type":"Point","coordinates":[1.5,-2,3,4.25]},'
    '"properties":{"a": 1.0, "b":[ ]},"bbox":[1,2,3,4],"x":null}',
    '{"type":"Feature","geometry":{"type":"MultiPoint","coordinates":[]},'
    '"properties":{"deep":{"a":{"b":"c"}},"list":[true,null,"x"],"n":3}}',
    '{"type":"Feature","geometry":null,"properties":null}',
    '{"type":"Feature","id":"k","geometry":{"type":"Point","coordinates":[null,0]},"properties":{}}',
]
for feature, text in zip(FEATURES, TEXTS):
    case(SOURCE + "ImportFeatures", pb.ImportFeaturesRequest(features=pb.NewFeatures(features=[feature])),
         geojson=f"[{text}]")
opens(SOURCE + "UpdateFeatures", pb.UpdateFeaturesRequest(source="a", upsert=FEATURES, remove=IDS),
      {"source": "a", "upsert": [], "remove": [7, 'a"b', 1.5]},
      '{"source":"a","upsert":[%s],"remove":[7,"a\\"b",1.5]}' % ",".join(TEXTS))
opens(SOURCE + "LoadFile", pb.LoadFileRequest(
    source="a", path="b.csv", mode=pb.IMPORT_MODE_REPLACE, on_invalid=pb.ON_INVALID_REJECT, wrap=True,
    table=pb.TableColumns(longitude="x", latitude="y", id="key", delimiter="tab", text=["zip"])),
    {"source": "a", "path": "b.csv", "mode": "replace", "onInvalid": "reject", "wrap": True, "longitude": "x",
     "latitude": "y", "id": "key", "delimiter": "tab", "text": ["zip"]})
opens(SOURCE + "PublishTiles", pb.PublishTilesRequest(
    source="a", path="b.pmtiles", min_zoom=0, max_zoom=5, compression=pb.TILE_COMPRESSION_NONE, name="n", description="d",
    attribution="", overwrite=True, filter_json="true", properties=pb.PropertySelection(names=["a"]), include=[1]),
    {"source": "a", "path": "b.pmtiles", "minZoom": 0, "maxZoom": 5, "compression": "none", "name": "n", "description": "d",
     "attribution": "", "overwrite": True, "filter": True, "properties": ["a"], "include": ["hull"]})
opens(SOURCE + "ApplyChanges", pb.ApplyChangesRequest(open=pb.ApplyChangesOpen(source="a", log="l", on_invalid=2)),
      {"source": "a", "log": "l", "onInvalid": "skip"})
case(SOURCE + "ApplyChanges", pb.ApplyChangesRequest(change=pb.Change(position="5", upsert=FEATURES[1:2], remove=IDS)),
     item='{"position":"5","upsert":[%s],"remove":[7,"a\\"b",1.5]}' % TEXTS[1])
opens(SOURCE + "DeleteSource", pb.DeleteSourceRequest(source="a"), {"source": "a"})
opens(SOURCE + "GetFeatures", pb.GetFeaturesRequest(source="a", precision=5, properties_format=2), {"source": "a", "precision": 5},
      struct=True)
opens(SOURCE + "GetSource", pb.GetSourceRequest(source="a"), {"source": "a"})
opens(SOURCE + "ListSources", pb.ListSourcesRequest(), {})
opens(SOURCE + "EvaluateExpression", pb.EvaluateExpressionRequest(
    expression_json='["get","a"]', feature_json='{"properties":{"a":1}}', zoom=0, accumulated_json="null", expected_type="number"),
    {"expression": ["get", "a"], "feature": {"properties": {"a": 1}}, "zoom": 0, "accumulated": None, "type": "number"})
opens(SOURCE + "EvaluateExpression", pb.EvaluateExpressionRequest(), {})

# ServerService
opens(SERVER + "Check", pb.CheckRequest(), {})
opens(SERVER + "GetServerInfo", pb.GetServerInfoRequest(), {})
opens(SERVER + "GetStats", pb.GetStatsRequest(format=pb.STATS_FORMAT_PROMETHEUS), {"format": "prometheus"})
opens(SERVER + "GetStats", pb.GetStatsRequest(), {})

# Merging: the last scalar counts, messages merge, the last of a oneof counts, lists may be packed or not.
merged = pb.GetClustersRequest(source="a", zoom=1, bbox=pb.BoundingBox(west=1, north=2), include=[1, 2]).SerializeToString() + \
    pb.GetClustersRequest(source="b", zoom=2, bbox=pb.BoundingBox(west=3, east=4), include=[3]).SerializeToString()
opens(CLUSTER + "GetClusters", merged,
      {"source": "b", "bbox": [3, 0, 4, 2], "zoom": 2, "include": ["hull", "bbox", "expansionZoom"]})
opens(CLUSTER + "GetClusters", b"\xb8\x01\x01\xb8\x01\x05", {"include": ["hull", "anchor"]})
opens(SOURCE + "CreateSource", pb.CreateSourceRequest(options=pb.SourceOptions(radius=5)).SerializeToString()
      + pb.CreateSourceRequest(options=pb.SourceOptions(radius_json="[1]", extent=9)).SerializeToString(),
      {"options": {"radius": [1], "extent": 9}})
opens(SOURCE + "CreateSource", pb.CreateSourceRequest(options=pb.SourceOptions(radius_json="[1]")).SerializeToString()
      + pb.CreateSourceRequest(options=pb.SourceOptions(radius=5)).SerializeToString(), {"options": {"radius": 5}})
first = pb.ImportFeaturesRequest(open=pb.ImportFeaturesOpen(source="x", wrap=True)).SerializeToString()
other = pb.ImportFeaturesRequest(geojson=b"[]").SerializeToString()
last = pb.ImportFeaturesRequest(open=pb.ImportFeaturesOpen(source="a")).SerializeToString()
opens(SOURCE + "ImportFeatures", first + other + last, {"source": "a"})
opens(SOURCE + "ImportFeatures", first + last, {"source": "a", "wrap": True})
case(SOURCE + "ImportFeatures", first + other, geojson="[]")


# Errors name the field.
def fails(method, message, error):
    case(method, message, error=error)


def clusters(**members):
    return pb.GetClustersRequest(source="a", **members)


fails(CLUSTER + "GetClusters", b"\x0a", "params is not a protobuf message: it ends within a field.")
fails(CLUSTER + "GetClusters", b"\xf8\x07\x01", "params has a field 127, which GetClustersRequest does not have.")
fails(CLUSTER + "GetClusters", b"\x12\x02\x28\x01", "params.bbox has a field 5, which BoundingBox does not have.")
fails(CLUSTER + "GetClusters", b"\x0a\x01\xff", "params.source is not UTF-8.")
fails(CLUSTER + "GetClusters", b"\x08\x01", "params.source is laid out as another type than in clusterd.v1.GetClustersRequest.")
fails(CLUSTER + "GetClusters", clusters(zoom=float("nan")), "params.zoom must be a finite number.")
fails(CLUSTER + "GetClusters", clusters(bbox=pb.BoundingBox(east=float("inf"))), "params.bbox[2] must be a finite number.")
fails(CLUSTER + "GetClusters", clusters(filter_json="["), "params.filter is not JSON: The text is not JSON at byte 1.")
fails(CLUSTER + "GetClusters", clusters(filter_json=""), "params.filter is not JSON: The text is empty; a JSON value was expected.")
fails(CLUSTER + "GetClusters", clusters(filter_json='1,"limit":5'), "params.filter is not JSON: The text is not JSON at byte 1.")
fails(CLUSTER + "GetClusters", clusters(include=[1, 99]), "params.include[1] has the value 99, which its enumeration does not have.")
fails(CLUSTER + "GetClusters", clusters(include=[0]), "params.include[0] is no value: INCLUDE_UNSPECIFIED.")
fails(CLUSTER + "GetClusters", clusters(include=[1] * 70_000), "params.include has more than 65536 elements.")
fails(CLUSTER + "GetClusters", clusters(properties_format=7),
      "params.propertiesFormat has the value 7, which its enumeration does not have.")
fails(CLUSTER + "WatchClusters", b"", "The message is empty: it must have one of open, viewport.")
fails(CLUSTER + "WatchClusters", pb.WatchClustersRequest(viewport=pb.WatchClustersViewport(zoom=float("inf"))),
      "item.zoom must be a finite number.")
fails(SOURCE + "EvaluateExpression", pb.EvaluateExpressionRequest(feature_json="[]"),
      "params.feature must be the text of a JSON object.")
fails(SOURCE + "UpdateFeatures", pb.UpdateFeaturesRequest(upsert=[pb.NewFeature(), pb.NewFeature(properties_json="[1]")]),
      "params.upsert[1].properties must be the text of a JSON object.")
fails(SOURCE + "UpdateFeatures", pb.UpdateFeaturesRequest(upsert=[pb.NewFeature(members_json='{"id": 5}')]),
      'params.upsert[0].members has the member "id", which the message has a field for.')
fails(SOURCE + "ImportFeatures", pb.ImportFeaturesRequest(features=pb.NewFeatures(features=[pb.NewFeature(geometry_json="{")])),
      "item.features[0].geometry is not JSON: The text is not JSON at byte 1.")
fails(SOURCE + "CreateSource", pb.CreateSourceRequest(options=pb.SourceOptions(
    cluster_properties=[pb.NamedExpression(name="n", expression_json="x")])),
    "params.options.clusterProperties[0] is not JSON: The text is not JSON at byte 0.")
fails(SOURCE + "CreateSource", pb.CreateSourceRequest(options=pb.SourceOptions(
    views=[pb.View(name="v", options=pb.SourceOptions(precision=9))])),
    "params.options.views[0].precision has the value 9, which its enumeration does not have.")
