// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport

@testable import TypedContract

/// Protobuf's own compiler and classes for Python (protobuf-compiler, python3-protobuf), with which this module is
/// compared.
enum ProtobufOracle {
    private static let python = "/usr/bin/python3"

    static let isAvailable: Bool = {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/protoc") else { return false }
        let check = try? DaemonProcess.run(python, ["-c", "import google.protobuf.json_format"])
        return check?.status == 0
    }()

    static let reason = "needs protobuf-compiler and python3-protobuf"

    /// What a script of Tests/Protobuf prints, line by line. It is given a folder with the modules of the .proto files.
    static func lines(_ script: String, input: [String] = []) throws -> [JSONValue] {
        let folder = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let protos = Repository.root.appendingPathComponent("proto").path
        let compiled = try DaemonProcess.run(
            "/usr/bin/protoc",
            [
                "-I", protos, "--python_out=\(folder)", "clusterd/v1/clusterd.proto", "grpc/health/v1/health.proto",
                "grpc/reflection/v1/reflection.proto",
            ])
        guard compiled.status == 0 else { throw DaemonProcess.Failure(description: compiled.errors) }
        let path = Repository.root.appendingPathComponent("Tests/Protobuf/\(script)").path
        let result = try DaemonProcess.run(
            python, [path, folder], input: Data(input.joined(separator: "\n").utf8))
        guard result.status == 0 else { throw DaemonProcess.Failure(description: result.errors) }
        return try result.output.split(separator: "\n").map { try JSONReader.parse(String($0), maximumDepth: 200) }
    }

    static func bytes(hexadecimal text: String) -> [UInt8] {
        var digits = text.utf8.compactMap { UInt8(String(UnicodeScalar($0)), radix: 16) }[...]
        var bytes: [UInt8] = []
        while let high = digits.popFirst(), let low = digits.popFirst() { bytes.append(high << 4 | low) }
        return bytes
    }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
