// SPDX-License-Identifier: MIT
import Compression
import Foundation
import JSON

/// Recorded answers of supercluster.
public struct GoldenCase: Sendable {
    public var kind: String
    public var count: Int
    public var seed: UInt32
    public var options: JSONObject
    public var queries: [JSONObject]

    public var points: [GoldenPoint] { GoldenDataset.points(kind: kind, count: count, seed: seed) }

    /// All cases of a version of supercluster (8 or 9), from `Tests/Golden`.
    public static func load(version: Int = 8) throws -> [GoldenCase] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = folder.appendingPathComponent("Golden/supercluster-\(version).json.gz")
        let text = try Zlib.inflate([UInt8](Data(contentsOf: file)), format: .gzip, limit: 1 << 26)
        guard case .array(let cases) = try JSONReader.parse(text) else { return [] }
        return cases.compactMap(GoldenCase.init)
    }

    private init?(_ value: JSONValue) {
        guard case .object(let object) = value, case .string(let kind)? = object["kind"],
            case .number(let count)? = object["count"], case .number(let seed)? = object["seed"],
            case .object(let options)? = object["options"], case .array(let queries)? = object["queries"]
        else { return nil }
        self.kind = kind
        self.count = Int(count)
        self.seed = UInt32(seed)
        self.options = options
        self.queries = queries.compactMap { if case .object(let query) = $0 { query } else { nil } }
    }
}

/// SHA-1 (FIPS 180-4), by which long golden answers are recorded.
public func sha1(_ text: String) -> String {
    var message = Array(text.utf8)
    let bits = UInt64(message.count) * 8
    message.append(0x80)
    while message.count % 64 != 56 { message.append(0) }
    message += (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) }
    var h: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
    func rotate(_ value: UInt32, _ by: UInt32) -> UInt32 { value << by | value >> (32 - by) }
    for block in stride(from: 0, to: message.count, by: 64) {
        var w = (0..<16).map { word in
            (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(message[block + word * 4 + $1]) }
        }
        for index in 16..<80 {
            w.append(rotate(w[index - 3] ^ w[index - 8] ^ w[index - 14] ^ w[index - 16], 1))
        }
        var (a, b, c, d, e) = (h[0], h[1], h[2], h[3], h[4])
        for index in 0..<80 {
            let (f, k): (UInt32, UInt32) =
                switch index / 20 {
                case 0: ((b & c) | (~b & d), 0x5A82_7999)
                case 1: (b ^ c ^ d, 0x6ED9_EBA1)
                case 2: ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            (a, b, c, d, e) = (rotate(a, 5) &+ f &+ e &+ k &+ w[index], a, rotate(b, 30), c, d)
        }
        h = zip(h, [a, b, c, d, e]).map { $0 &+ $1 }
    }
    return h.map { String(format: "%08x", $0) }.joined()
}
