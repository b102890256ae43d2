"""Requests in protobuf's JSON mapping, as protobuf's own classes for Python read them, and errors where they refuse.

    mapping.py FOLDER    the folder has the modules that protoc made
"""
import json, sys

sys.path.insert(0, sys.argv[1])
from clusterd.v1 import clusterd_pb2 as pb
from google.protobuf.json_format import Parse, ParseError

CASES = [
    ("ClusterService/GetClusters", "GetClustersRequest", [
        '{}', '{"source":"a","bbox":{"west":-10,"south":1.5,"east":"5","north":1e1},"zoom":0,"limit":"9007199254740993"}',
        '{"filterJson":"true","topBy":"a","at_least":"x","propertiesFormat":"PROPERTIES_FORMAT_STRUCT","include":["INCLUDE_HULL",2]}',
        '{"pin":[{"integer":"-5"},{"unsignedInteger":"18446744073709551615"},{"text":"é\\u00e9"},{"number":"NaN"}],"precision":15.0}',
        '{"source":null,"bbox":null,"include":[],"properties":{"names":["a",""]},"window":{"property":"p","lower":"-Infinity"}}',
        '{"zoom":"1e2","revision":1e3,"precision":"7"}',
        '{"unknown":1}', '{"limit":1.5}', '{"limit":-1}', '{"precision":4294967296}', '{"source":5}',
        '{"include":"INCLUDE_HULL"}', '{"include":["HULL"]}', '{"bbox":[1]}', '{"zoom":1,"zoom":2}', '{"source"',
        '{"pin":[{"integer":1,"text":"a"}]}', '{"zoom":"x"}', '{"limit":"18446744073709551616"}']),
    ("SourceService/ImportFeatures", "ImportFeaturesRequest", [
        '{"geojson":"aGVsbG8="}', '{"geojson":"_-8"}', '{"open":{"source":"a","wrap":true,"mode":"IMPORT_MODE_APPEND"}}',
        '{"features":{"features":[{"id":{"integer":1},"position":{"longitude":1,"further":[1,2]},'
        '"properties":{"":{},"a":[1,null,true,{"b":"c"}]}},{"propertiesJson":"{}"}]}}',
        '{"open":{"wrap":1}}', '{"features":{"features":[{"properties":[1]}]}}']),
    ("SourceService/CreateSource", "CreateSourceRequest", [
        '{"options":{"views":[{"name":"a","options":{"radius":5},"leftOut":["b"]}],"generateId":false,"radiusJson":"1"}}']),
]

for method, name, texts in CASES:
    for text in texts:
        try:
            data = Parse(text, getattr(pb, name)()).SerializeToString(deterministic=True).hex()
        except ParseError:
            data = None
        print(json.dumps({"method": "clusterd.v1." + method, "message": name, "json": text, "hex": data}))
