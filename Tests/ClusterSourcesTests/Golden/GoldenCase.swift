// SPDX-License-Identifier: MIT
import Compression
import Foundation
import Testing

/// What supercluster answered about some points.
struct GoldenCase: @unchecked Sendable, CustomTestStringConvertible {
    // Sendable holds: what JSONSerialization made is never written to.
    private let object: [String: Any]

    var name: String { object["name"] as? String ?? "" }
    var testDescription: String { name }
    var queries: [[String: Any]] { object["queries"] as? [[String: Any]] ?? [] }

    /// The options' text.
    var options: String {
        get throws {
            let data = try JSONSerialization.data(withJSONObject: try #require(object["options"]))
            return String(decoding: data, as: UTF8.self)
        }
    }

    /// The points' text, a JSON array of features.
    var points: String {
        get throws {
            GoldenPoints.json(
                kind: try #require(object["kind"] as? String), count: try #require(object["count"] as? Int),
                seed: UInt32(try #require(object["seed"] as? Int)))
        }
    }

    static let all: [GoldenCase] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Data/supercluster-8.json.gz")
        guard let packed = try? Data(contentsOf: file),
            let text = try? Zlib.inflate(Array(packed), format: .gzip, limit: 64 << 20),
            let cases = try? JSONSerialization.jsonObject(with: Data(text)) as? [[String: Any]]
        else { return [] }
        return cases.map { GoldenCase(object: $0) }
    }()
}
