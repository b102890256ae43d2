// SPDX-License-Identifier: MIT
import ClusterClient
import Foundation
import JSON
import TestSupport
import Testing

/// The table of messy files in `proto-docs/messy-files.md`: each is read on both import paths, and what comes of it is
/// what the table says.
@Suite("Messy files")
struct MessyFilesTests {
    private static let page = Repository.root
        .appendingPathComponent("proto-docs/messy-files.md")

    private struct Row {
        let name: String
        let content: [UInt8]
        let options: JSONValue
        let rejecting: String
        let skipping: String
    }

    private static func rows() throws -> [Row] {
        let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
        return try lines.filter { $0.hasPrefix("| ") }.dropFirst(2).map { line in
            let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            let options = cells[2].trimmingCharacters(in: CharacterSet(charactersIn: "` "))
            return Row(
                name: cells[0], content: try bytes(of: cells[1]),
                options: options.isEmpty ? [:] : try JSONReader.parse(options), rejecting: cells[3], skipping: cells[4])
        }
    }

    /// What a cell of the table stands for: `<1>` for a feature, and the escapes that the page names.
    private static func bytes(of cell: String) throws -> [UInt8] {
        var text = cell.trimmingCharacters(in: CharacterSet(charactersIn: "`"))
        for id in 1...2 {
            text = text.replacingOccurrences(
                of: "<\(id)>",
                with:
                    #"{"type":"Feature","id":\#(id),"geometry":{"type":"Point","coordinates":[\#(id),2]},"properties":{"name":"n\#(id)"}}"#
            )
        }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "n"): bytes.append(10)
            case UInt8(ascii: "r"): bytes.append(13)
            case UInt8(ascii: "t"): bytes.append(9)
            case UInt8(ascii: "x"):
                bytes.append(try #require(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)))
                rest = rest.dropFirst(2)
            default: bytes.append(UInt8(ascii: "\\"))
            }
        }
        return bytes
    }

    /// An answer in the table's words.
    private static func words(_ result: JSONValue) -> String {
        let answer = result.object ?? [:]
        func count(_ name: String) -> Int {
            if case .number(let number)? = answer[name] { return Int(number) }
            return 0
        }
        var words = "\(count("accepted")) taken in"
        if count("points") != count("accepted") { words += " as \(count("points"))" }
        if case .object(let reasons)? = answer["skippedReasons"], !reasons.isEmpty {
            words += "; " + reasons.members.map { "\($0.key): \($0.value.text)" }.joined(separator: ", ")
        }
        for case .string(let warning) in answer["warnings"]?.array ?? [] { words += "; warning: \(warning)" }
        return words.replacingOccurrences(of: "|", with: "/")
    }

    /// An error in the table's words.
    private static func words(_ error: String) -> String {
        "error: \(error.replacingOccurrences(of: "|", with: "/"))"
    }

    @Test("each has the documented result, on both import paths") func table() async throws {
        let folder = NSTemporaryDirectory() + "clusterd-messy-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let daemon = try DaemonProcess(["--import-dir", folder])
        let raw = try daemon.client()
        let client = try await Client.connect(socketPath: daemon.socketPath)
        let rows = try Self.rows()
        #expect(rows.count > 40)
        for (place, row) in rows.enumerated() {
            let path = folder + "/\(place)"
            try Data(row.content).write(to: URL(fileURLWithPath: path))
            for (policy, expected) in [("reject", row.rejecting), ("skip", row.skipping)] {
                let (loaded, sent) = ("l\(place)\(policy)", "s\(place)\(policy)")
                for source in [loaded, sent] {
                    _ = try raw.call("SourceService/CreateSource", ["source": .string(source), "options": row.options])
                }
                let message = try raw.exchange(
                    "SourceService/LoadFile",
                    ["source": .string(loaded), "path": .string(path), "onInvalid": .string(policy)])
                let answer =
                    message["result"].map { Self.words($0) } ?? Self.words(RawClient.status(message["error"]).message)
                #expect(answer == expected, "\(row.name), loaded")
                let other: String
                do {
                    let options = ImportOptions(skipsInvalid: policy == "skip")
                    let result = try await client.importFeatures(
                        try FeatureInput(path: path), into: sent, options: options)
                    other = Self.words(try JSONReader.parse(result.bytes))
                } catch let error as FeatureTextError {
                    other = Self.words(error.message)
                }
                #expect(other == expected, "\(row.name), sent")
            }
        }
    }
}
