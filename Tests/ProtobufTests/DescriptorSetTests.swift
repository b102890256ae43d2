// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import Protobuf

@Suite("Descriptors") struct DescriptorSetTests {
    private static let file = """
        syntax = "proto3";
        package trial.v1;
        import "google/protobuf/struct.proto";
        enum Colour { COLOUR_UNSPECIFIED = 0; COLOUR_RED = 1; COLOUR_NEGATIVE = -2; }
        message Outer {
          message Inner { sint32 x = 1; repeated double numbers = 2; }
          enum Local { LOCAL_UNSPECIFIED = 0; }
          string long_name = 1;
          optional uint64 limit = 2;
          oneof kind { Inner inner = 3; string text = 4; }
          repeated Colour colours = 20;
          map<string, google.protobuf.Value> members = 5;
        }
        service Trial {
          rpc Get(Outer) returns (Outer.Inner) { option idempotency_level = NO_SIDE_EFFECTS; }
          rpc Change(Outer) returns (Outer) { option idempotency_level = IDEMPOTENT; }
          rpc Stream(stream Outer) returns (stream Outer);
        }
        """

    private static let hasCompiler = FileManager.default.isExecutableFile(atPath: "/usr/bin/protoc")

    /// What protoc makes of a file.
    private static func compiled(_ text: String) throws -> [UInt8] {
        let folder = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try text.write(toFile: folder + "/trial.proto", atomically: true, encoding: .utf8)
        let result = try DaemonProcess.run(
            "/usr/bin/env",
            ["protoc", "-I", folder, "--include_imports", "--descriptor_set_out=\(folder)/set", "trial.proto"])
        #expect(result.status == 0, "\(result.errors)")
        return try Array(Data(contentsOf: URL(fileURLWithPath: folder + "/set")))
    }

    @Test("a compiled file is read as it was written", .enabled(if: hasCompiler, "needs protobuf-compiler"))
    func compiledFile() throws {
        let set = try DescriptorSet(Self.compiled(Self.file))
        let outer = try #require(set.messages["trial.v1.Outer"])
        #expect(outer.fields.map(\.name) == ["long_name", "limit", "inner", "text", "colours", "members"])
        #expect(outer.fields.map(\.number) == [1, 2, 3, 4, 20, 5])
        #expect(outer.fields.map(\.jsonName).first == "longName")
        #expect(outer.fields.map(\.kind) == [.string, .uint64, .message, .string, .enumeration, .message])
        #expect(outer.fields.map(\.hasPresence) == [false, true, true, true, false, true])
        #expect(outer.fields.map(\.oneof) == [nil, nil, 0, 0, nil, nil])
        #expect(outer.fields.map(\.isRepeated) == [false, false, false, false, true, true])
        #expect(outer[3]?.typeName == "trial.v1.Outer.Inner")
        #expect(outer[6] == nil)
        #expect(set.messages[outer[5]?.typeName ?? ""]?.isMapEntry == true)
        #expect(outer.isMapEntry == false)
        let colour = try #require(set.enumerations["trial.v1.Colour"])
        #expect(colour.values.map(\.name) == ["COLOUR_UNSPECIFIED", "COLOUR_RED", "COLOUR_NEGATIVE"])
        #expect(colour.values.map(\.number) == [0, 1, -2])
        #expect(set.enumerations["trial.v1.Outer.Local"] != nil)
        let service = try #require(set.services.first)
        #expect(service.name == "trial.v1.Trial")
        #expect(service.methods.map(\.name) == ["Get", "Change", "Stream"])
        #expect(service.methods.map(\.output) == ["trial.v1.Outer.Inner", "trial.v1.Outer", "trial.v1.Outer"])
        #expect(service.methods.map(\.hasNoSideEffects) == [true, false, false])
        #expect(service.methods.map(\.takesStream) == [false, false, true])
        #expect(service.methods.map(\.returnsStream) == [false, false, true])
        #expect(set.files.map(\.name) == ["google/protobuf/struct.proto", "trial.proto"])
        #expect(set.files.last?.dependencies == ["google/protobuf/struct.proto"])
        #expect(set.files.last?.symbols.contains("trial.v1.Trial.Get") == true)
    }

    @Test(
        "a set that is cut short is an error or has less, at each length",
        .enabled(if: hasCompiler, "needs protobuf-compiler"))
    func cut() throws {
        let bytes = try Self.compiled(Self.file)
        var errors = 0
        for length in bytes.indices {
            do { _ = try DescriptorSet(Array(bytes[..<length])) } catch { errors += 1 }
        }
        #expect(errors > bytes.count / 2)
    }
}
