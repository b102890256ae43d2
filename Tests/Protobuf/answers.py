"""Answers of the daemon in JSON, each with what protobuf's own classes for Python make of the message.

    answers.py FOLDER    the folder has the modules that protoc made

Without input, prints the cases: method, part, whether properties are a Struct, the JSON text, and the expected message in
protobuf's JSON mapping. Each line of input is a message's name and its bytes in hexadecimal; then prints what they are.
"""
import json, sys

sys.path.insert(0, sys.argv[1])
from clusterd.v1 import clusterd_pb2 as pb
from google.protobuf.json_format import MessageToDict

CLUSTER, SOURCE, SERVER = "ClusterService/", "SourceService/", "ServerService/"


def case(method, text, expected, part="result", struct=False):
    print(json.dumps({"method": "clusterd.v1." + method, "part": part, "struct": struct, "json": text, "expected": expected}))


def cases():
    point = ('{"type":"Feature","id":%s,"geometry":{"type":"Point","coordinates":[1.5,-2,100],"x":1},"properties":{"a":1.0,"b":[null,"c"]}%s}')
    cluster = ('{"type":"Feature","id":164,"properties":{%s"cluster":true,"cluster_id":164,"point_count":1200,'
               '"point_count_abbreviated":"1.2k"%s},"geometry":{"type":"Point","coordinates":[-0.5,51]}%s}')
    collection = '{"type":"FeatureCollection","features":[%s]%s,"revision":7}'
    plain = {"cluster": {"id": "164", "pointCount": "1200"}, "longitude": -0.5, "latitude": 51}
    text = {"propertiesJson": '{"a":1.0,"b":[null,"c"]}', "further": [100]}

    def made(identifier, **members):
        return {"longitude": 1.5, "latitude": -2, "point": {"id": identifier, **text, **members}}

    case(CLUSTER + "GetClusters", collection % ("", ""), {"revision": "7"})
    case(CLUSTER + "GetClusters", collection % (cluster % ("", "", ""), ',"truncated":false'),
         {"features": [plain], "truncated": False, "revision": "7"})
    case(CLUSTER + "GetClusters", (collection % (",".join([
        point % ("7", ""), point % ('"a\\"b"', ',"bbox":[1, 2],"key":"x"'), point % ("1.5", ',"key":"00112233445566ff-2"'),
        cluster % ('"sum":1e2,"cluster":3,', ',"point_weight":2.5,"partition":"é","expansionZoom":0,"hull":{"type":"Polygon",'
                   '"coordinates":[[[0,0],[1,0],[1,1],[0,0]]]},"bbox":[0,-1,2,3],"coincident":false,"anchor":[0,5]',
                   ',"key":"0011223344556677"'),
        cluster % ("", ',"partition":4,"coincident":true,"spider":[[1,2],[3.5,-4]],"hull":{"type":"Point","coordinates":[3,4]}', ""),
        cluster % ("", ',"partition":null,"total_count":0,"top":{"id":5,"coordinates":[1,2],"properties":{"n":1}}', ""),
    ]), ',"truncated":true,"warnings":["w","é"]'))[:-1] + ',"position":"0/1"}', {
        "features": [
            made({"integer": "7"}), made({"text": 'a"b'}, membersJson='{"bbox":[1, 2],"key":"x"}'),
            {**made({"number": 1.5}), "key": "00112233445566ff-2"},
            {**plain, "key": "0011223344556677", "cluster": {
                "id": "164", "pointCount": "1200", "propertiesJson": '{"sum":1e2,"cluster":3}', "pointWeight": 2.5,
                "partitionText": "é", "expansionZoom": 0, "hull": {"coordinates": [0, 0, 1, 0, 1, 1, 0, 0]},
                "bbox": {"south": -1, "east": 2, "north": 3}, "coincident": False, "anchor": {"latitude": 5}}},
            {**plain, "cluster": {"id": "164", "pointCount": "1200", "partitionNumber": 4, "coincident": True,
                                  "spider": [1, 2, 3.5, -4], "hull": {"coordinates": [3, 4]}}},
            {**plain, "cluster": {"id": "164", "pointCount": "1200", "totalCount": "0", "top": {
                "longitude": 1, "latitude": 2, "point": {"id": {"integer": "5"}, "propertiesJson": '{"n":1}'}}}}],
        "truncated": True, "warnings": ["w", "é"], "revision": "7", "position": "0/1"})
    case(CLUSTER + "GetClusters", collection % (cluster % ('"list":[1,"a\\u0041",{"b":false}],', "", "") + "," + point % ("18446744073709551615", ""), ""),
         {"features": [{**plain, "cluster": {"id": "164", "pointCount": "1200", "properties": {"list": [1, "aA", {"b": False}]}}},
                       {"longitude": 1.5, "latitude": -2, "point": {"id": {"unsignedInteger": "18446744073709551615"},
                        "properties": {"a": 1, "b": [None, "c"]}, "further": [100]}}], "revision": "7"}, struct=True)
    # A point that has all properties of a cluster.
    case(CLUSTER + "GetClusters", collection % (
        '{"type":"Feature","geometry":{"type":"Point","coordinates":[0,-0.0]},"properties":{"cluster":true,"cluster_id":1,"point_count":2}}', ""),
        {"features": [{"latitude": -0.0, "point": {"propertiesJson": '{"cluster":true,"cluster_id":1,"point_count":2}'}}], "revision": "7"})
    case(CLUSTER + "GetClusters", collection % ('{"type":"Feature","geometry":{"type":"Point","coordinates":[0,0]},"properties":null}', ""),
         {"features": [{"point": {}}], "revision": "7"})
    case(CLUSTER + "GetChildren", collection % (cluster % ("", "", ""), ""), {"features": [plain], "revision": "7"})
    case(CLUSTER + "GetLeaves", collection % (point % ("7", ""), ',"total":20'), {"features": [made({"integer": "7"})], "total": "20", "revision": "7"})
    case(CLUSTER + "GetTile", '{"features":[{"type":1,"geometry":[[-5,4096]],"tags":{"n":3,"cluster":true,"cluster_id":9,"point_count":2,'
         '"point_count_abbreviated":2},"id":9},{"type":1,"geometry":[[0,1]],"tags":{"a":1},"id":"x","key":"0011223344556677"},'
         '{"type":1,"geometry":[[0,0]],"tags":null},{"type":3,"geometry":[[[512,1024],[1024,1024],[1024,1536],[512,1536],[512,1024]]],'
         '"tags":{"point_count":3}}],"revision":1}',
         {"features": [{"x": -5, "y": 4096, "cluster": {"id": "9", "pointCount": "2", "propertiesJson": '{"n":3}'}},
                       {"y": 1, "point": {"id": {"text": "x"}, "propertiesJson": '{"a":1}'}, "key": "0011223344556677"}, {"point": {}},
                       {"x": 512, "y": 1024, "square": {"size": 512, "pointCount": "3"}}], "revision": "1"})
    case(CLUSTER + "GetTile", '{"tile":"GgA=","revision":1}', {"tile": "GgA=", "revision": "1"})
    case(CLUSTER + "GetTile", '{"tile":"","revision":1}', {"tile": "", "revision": "1"})
    case(CLUSTER + "GetClusterExpansionZoom", '{"zoom":0,"revision":2}', {"revision": "2"})
    case(CLUSTER + "GetConvexHull", '{"type":"Feature","properties":{"cluster_id":9,"point_count":2},"geometry":{"type":"LineString","coordinates":[[0,1],[2,3]]},"revision":1}',
         {"hull": {"coordinates": [0, 1, 2, 3]}, "clusterId": "9", "pointCount": "2", "revision": "1"})
    case(CLUSTER + "GetConvexHull", '{"type":"Feature","properties":{"cluster_id":9,"point_count":0},"geometry":null,"revision":1}', {"clusterId": "9", "revision": "1"})
    case(CLUSTER + "LocateFeature", '{"feature":%s,"standsAloneFrom":0,"revision":1}' % (cluster % ("", "", "")),
         {"feature": plain, "standsAloneFrom": 0, "revision": "1"})
    case(CLUSTER + "LocateFeature", '{"feature":%s,"standsAloneFrom":null,"revision":1}' % (point % ("7", "")), {"feature": made({"integer": "7"}), "revision": "1"})
    case(CLUSTER + "WatchClusters", '{"add":[%s],"remove":["0011223344556677","0011223344556677-1"],"keep":0,"revision":1}' % (point % ("7", ',"key":"0011223344556677"')),
         {"add": [{**made({"integer": "7"}), "key": "0011223344556677"}], "remove": [{"key": "0011223344556677"}, {"key": "0011223344556677-1"}], "revision": "1"}, part="item")
    case(CLUSTER + "WatchClusters", '{"add":[%s],"update":[%s],"remove":[{"key":"a","into":"b"},{"key":"c"}],"keep":5,"truncated":true,"revision":1,"position":"0/2"}' % (
        point % ("7", ',"from":2,"key":"0011223344556677","from":"0011223344556678"'), cluster % ("", "", ',"key":"0011223344556678"')),
        {"add": [{**made({"integer": "7"}, membersJson='{"from":2}'), "key": "0011223344556677", "fromKey": "0011223344556678"}], "update": [{**plain, "key": "0011223344556678"}],
         "remove": [{"key": "a", "intoKey": "b"}, {"key": "c"}], "keep": "5", "truncated": True, "revision": "1", "position": "0/2"}, part="item")
    case(CLUSTER + "WatchClusters", "{}", {}, part="end")
    case(CLUSTER + "TopFeatures", collection % (point % ("7", ""), ""), {"features": [made({"integer": "7"})], "revision": "7"})
    case(CLUSTER + "GetHistogram", '{"edges":[0,1.5],"counts":[0],"below":1,"above":2,"missing":3,"revision":1}',
         {"edges": [0, 1.5], "counts": ["0"], "below": "1", "above": "2", "missing": "3", "revision": "1"})
    case(CLUSTER + "GetGrid", '{"resolution":3,"cells":[{"x":1,"y":2,"point_count":3},{"x":0,"y":300,"point_count":4}],"revision":1}',
         {"resolution": 3, "x": [1, 0], "y": [2, 300], "pointCounts": ["3", "4"], "revision": "1"})

    options = ('{"radius":%s,"extent":512,"minZoom":0,"maxZoom":16,"minPoints":2,"generateId":false,"precision":"float","clusterIds":"origin",'
               '"filter":["==",1, 1],"projection":{"planar":[0,1,2,3]},"geometries":"inside","clusterProperties":{"a":["+", ["get","n"]],"":["any",true]},'
               '"views":{"v":{"radius":5,"filter":null,"weight":null}},"ttlSeconds":0.5}')
    shown = {"extent": 512, "minZoom": 0, "maxZoom": 16, "minPoints": 2, "generateId": False, "precision": "POSITION_PRECISION_FLOAT",
             "clusterIds": "CLUSTER_IDS_ORIGIN", "filterJson": '["==",1, 1]', "planar": {"south": 1, "east": 2, "north": 3}, "geometries": "GEOMETRIES_INSIDE",
             "clusterProperties": [{"name": "a", "expressionJson": '["+", ["get","n"]]'}, {"expressionJson": '["any",true]'}],
             "views": [{"name": "v", "options": {"radius": 5}, "leftOut": ["filter", "weight"]}], "ttlSeconds": 0.5}
    description = ('{"source":"a","options":%s,"points":5,"revision":3,"position":"0/5","bbox":[-1,0,1,2],"memoryBytes":4096,"fileBytes":0,"indexFileBytes":7,'
                   '"indexBytesPerPoint":1.5,"buildMs":0.25,"state":"stale","createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-02T00:00:00Z",'
                   '"damage":"d","replication":{"position":null,"lagBytes":12,"lagMs":5,"state":"following","table":"public.t","skippedReasons":{"r":2}},'
                   '"note":"n","expressionErrors":{"e":1}%s}')
    told = {"source": "a", "options": {"radius": 0, **shown}, "points": "5", "revision": "3", "position": "0/5", "bbox": {"west": -1, "east": 1, "north": 2},
            "memoryBytes": "4096", "indexFileBytes": "7", "indexBytesPerPoint": 1.5, "buildMs": 0.25, "state": "SOURCE_STATE_STALE",
            "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-02T00:00:00Z", "damage": "d",
            "replication": {"lagBytes": "12", "lagMs": 5, "state": "following", "table": "public.t", "skippedReasons": {"r": "2"}}, "note": "n",
            "expressionErrors": {"e": "1"}}
    for method in ["CreateSource", "UpdateOptions"]:
        case(SOURCE + method, description % (options % 0, ',"warnings":["w"]'), {"description": told, "warnings": ["w"]})
    case(SOURCE + "CreateSource", '{"source":"a","options":%s,"bbox":null,"state":"empty"}' % (options % '["zoom"]'),
         {"description": {"source": "a", "options": {"radiusJson": '["zoom"]', **shown}, "state": "SOURCE_STATE_EMPTY"}})
    for method in ["ImportFeatures", "LoadFile"]:
        case(SOURCE + method, description % (options % 0, ',"accepted":5,"skipped":1,"skippedReasons":{"bad":1},"warnings":["w"]'),
             {"description": told, "accepted": "5", "skipped": "1", "skippedReasons": {"bad": "1"}, "warnings": ["w"]})
    case(SOURCE + "UpdateFeatures", description % (options % 0, ',"inserted":1,"updated":2,"removed":3,"missing":4'),
         {"description": told, "inserted": "1", "updated": "2", "removed": "3", "missing": "4"})
    case(SOURCE + "GetSource", description % (options % 0, ""), {"description": told})
    case(SOURCE + "ListSources", '{"sources":[%s,%s]}' % (description % (options % 0, ""), description % (options % 0, "")), {"sources": [told, told]})
    case(SOURCE + "ListSources", '{"sources":[]}', {})
    case(SOURCE + "DeleteSource", "{}", {})
    case(SOURCE + "PublishTiles", '{"tiles":1,"ofTiles":2,"bytes":3}', {"progress": {"tiles": "1", "ofTiles": "2", "bytes": "3"}}, part="item")
    case(SOURCE + "PublishTiles", '{"path":"/a","tiles":1,"bytes":2,"minZoom":0,"maxZoom":5,"bounds":[0,1,2,3],"revision":4}',
         {"done": {"path": "/a", "tiles": "1", "bytes": "2", "maxZoom": 5, "bounds": {"south": 1, "east": 2, "north": 3}, "revision": "4"}}, part="end")
    case(SOURCE + "PublishTiles", '{"path":"/a","bounds":null,"revision":4}', {"done": {"path": "/a", "revision": "4"}}, part="end")
    case(SOURCE + "GetFeatures", '{"features":[%s],"revision":3}' % (point % ("7", "")), {"page": {"features": [made({"integer": "7"})], "revision": "3"}}, part="item")
    case(SOURCE + "GetFeatures", '{"features":9,"revision":3}', {"done": {"features": "9", "revision": "3"}}, part="end")
    case(SOURCE + "ApplyChanges", '{"position":"5","revision":1,"inserted":1,"updated":0,"removed":2,"missing":0,"skipped":3}',
         {"position": "5", "inserted": "1", "removed": "2", "skipped": "3", "revision": "1"}, part="item")
    case(SOURCE + "EvaluateExpression", '{"value":{"a": 1.0}}', {"valueJson": '{"a": 1.0}'})
    case(SOURCE + "EvaluateExpression", '{"value":null}', {"valueJson": "null"})

    case(SERVER + "Check", '{"status":"SERVING"}', {"status": "SERVING_STATUS_SERVING"})
    case(SERVER + "Check", '{"status":"NOT_SERVING"}', {"status": "SERVING_STATUS_NOT_SERVING"})
    case(SERVER + "GetServerInfo", '{"name":"clusterd","version":"1","uptimeSeconds":0.5,"lastReload":{"time":"t","ok":false,"error":"e"},"limits":{"a":1,"http":{"b":2}},'
         '"methods":[{"name":"m","kind":"client stream","right":"query","params":["a","b"],"summary":"s"},{"name":"n","kind":"both"}]}',
         {"name": "clusterd", "version": "1", "uptimeSeconds": 0.5, "lastReload": {"time": "t", "error": "e"}, "limits": {"a": "1", "http.b": "2"},
          "methods": [{"name": "m", "kind": "METHOD_KIND_CLIENT_STREAM", "right": "query", "params": ["a", "b"], "summary": "s"},
                      {"name": "n", "kind": "METHOD_KIND_BOTH"}]})
    case(SERVER + "GetServerInfo", '{"name":"clusterd","lastReload":null}', {"name": "clusterd"})
    case(SERVER + "GetStats", '{"calls": {"a":1},"text":2}', {"statsJson": '{"calls": {"a":1},"text":2}'})
    case(SERVER + "GetStats", '{"text":"# HELP\\n"}', {"prometheus": "# HELP\n"})


lines = sys.stdin.read().split("\n")
if lines == [""]:
    cases()
else:
    for line in lines:
        name, text = line.split(" ")
        message = getattr(pb, name)()
        message.ParseFromString(bytes.fromhex(text))
        print(json.dumps(MessageToDict(message)))
