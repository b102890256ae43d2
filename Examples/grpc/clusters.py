# SPDX-License-Identifier: MIT
"""Prints the clusters of a source, over gRPC.

    protoc -I proto --python_out=. --grpc_python_out=. --plugin=protoc-gen-grpc_python="$(command -v grpc_python_plugin)" \
        proto/clusterd/v1/clusterd.proto
    python3 Examples/grpc/clusters.py unix:/run/clusterd/clusterd.sock cities
"""
import json, os, sys

import grpc

sys.path.insert(0, os.getcwd())
from clusterd.v1 import clusterd_pb2 as pb
from clusterd.v1 import clusterd_pb2_grpc as services

target, source = sys.argv[1:3]
with grpc.insecure_channel(target) as channel:
    clusters = services.ClusterServiceStub(channel)
    world = pb.BoundingBox(west=-180, south=-85, east=180, north=85)
    answer = clusters.GetClusters(pb.GetClustersRequest(source=source, bbox=world, zoom=2), timeout=5)
    for feature in answer.features:
        if feature.HasField("cluster"):
            print(f"{feature.cluster.point_count:6} points around {feature.longitude:.2f}, {feature.latitude:.2f}")
        else:
            name = json.loads(feature.point.properties_json or "{}").get("name", "a point")
            print(f"       {name} at {feature.longitude:.2f}, {feature.latitude:.2f}")
