// SPDX-License-Identifier: MIT
// Prints the clusters of a source, over gRPC.
//
//   protoc -I proto --cpp_out=. --grpc_out=. --plugin=protoc-gen-grpc="$(command -v grpc_cpp_plugin)" \
//       proto/clusterd/v1/clusterd.proto
//   c++ -std=c++17 -I. Examples/grpc/clusters.cc clusterd/v1/*.cc -o clusters $(pkg-config --cflags --libs grpc++ protobuf)
//   ./clusters unix:/run/clusterd/clusterd.sock cities
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdio>

#include "clusterd/v1/clusterd.grpc.pb.h"

namespace v1 = clusterd::v1;

int main(int count, char** arguments) {
    if (count != 3) {
        std::fprintf(stderr, "usage: clusters TARGET SOURCE\n");
        return 2;
    }
    auto channel = grpc::CreateChannel(arguments[1], grpc::InsecureChannelCredentials());
    auto clusters = v1::ClusterService::NewStub(channel);

    v1::GetClustersRequest request;
    request.set_source(arguments[2]);
    request.mutable_bbox()->set_west(-180);
    request.mutable_bbox()->set_south(-85);
    request.mutable_bbox()->set_east(180);
    request.mutable_bbox()->set_north(85);
    request.set_zoom(2);

    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
    v1::GetClustersResponse answer;
    if (auto status = clusters->GetClusters(&context, request, &answer); !status.ok()) {
        std::fprintf(stderr, "clusters: %s\n", status.error_message().c_str());
        return 1;
    }
    for (const auto& feature : answer.features()) {
        unsigned long long points = feature.has_cluster() ? feature.cluster().point_count() : 1;
        std::printf("%6llu points around %.2f, %.2f\n", points, feature.longitude(), feature.latitude());
    }
}
