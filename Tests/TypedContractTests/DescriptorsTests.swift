// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import TypedContract

@Suite("Embedded descriptors") struct DescriptorsTests {
    private static let hasCompiler = FileManager.default.isExecutableFile(atPath: "/usr/bin/protoc")

    @Test("they are of the .proto files", .enabled(if: hasCompiler, "needs protobuf-compiler"))
    func areUpToDate() throws {
        let folder = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let script = Repository.root.appendingPathComponent("scripts/generate-descriptors").path
        let result = try DaemonProcess.run(script, [folder + "/set"])
        #expect(result.status == 0, "\(result.errors)")
        let compiled = try Array(Data(contentsOf: URL(fileURLWithPath: folder + "/set")))
        #expect(compiled == EmbeddedDescriptors.bytes, "run scripts/generate-descriptors, then build again")
    }

    @Test("they have all services, with what each message needs") func areWhole() {
        let services = Contract.descriptors.services.map(\.name)
        #expect(
            services == [
                "clusterd.v1.ClusterService", "clusterd.v1.SourceService", "clusterd.v1.ServerService",
                "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                "grpc.reflection.v1alpha.ServerReflection",
            ])
        #expect(Contract.descriptors.files.contains { $0.name == "google/protobuf/struct.proto" })
        for plan in Contract.plans {
            for field in plan.fields where plan.name.hasPrefix("clusterd.") {
                // The kinds that answers and the JSON mapping are written with.
                #expect(
                    field.layout != .fixed32 && (field.layout != .fixed64 || field.kind == .double), "\(field.name)")
            }
            // A message's fields are found by a byte.
            #expect(plan.fields.count < 255, "\(plan.name)")
            for field in plan.fields where field.kind == .message || field.kind == .enumeration {
                #expect(field.kind == .enumeration ? !field.words.isEmpty : field.plan.index(of: 0) == nil)
            }
        }
    }

    @Test("a field that is named otherwise than in JSON has its member") func members() throws {
        func member(_ message: String, _ field: String) -> String? {
            Contract.plan("clusterd.v1." + message)?.field(named: field)?.member
        }
        #expect(member("GetClustersRequest", "filter_json") == "filter")
        #expect(member("GetClustersRequest", "at_least") == "atLeast")
        #expect(member("EvaluateExpressionRequest", "expected_type") == "type")
        #expect(member("Feature", "from_key") == "from")
        #expect(member("RemovedMarker", "into_key") == "into")
        #expect(member("SourceOptions", "radius_json") == "radius")
        #expect(member("SourceOptions", "planar") == "projection")
        #expect(member("GetTileRequest", "z") == "z")
    }
}
