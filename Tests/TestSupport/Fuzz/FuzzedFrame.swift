// SPDX-License-Identifier: MIT
import Compression

/// A frame made at random, good or bad, and what the contract says of it.
public struct FuzzedFrame: Sendable {
    public enum Method: String, Sendable, CaseIterable {
        case unary = "clusterd.v1.ServerService/Check"
        case clientStream = "clusterd.v1.SourceService/ImportFeatures"
        case both = "clusterd.v1.ClusterService/WatchClusters"
        case unknown = "clusterd.v1.ClusterService/Nothing"
    }

    public enum Meaning: Sendable, Equatable {
        case open(id: Int64, Method)
        /// A message with a good id, of a call that is to be opened or one that is open, that cannot be used.
        case unusable(id: Int64, opens: Bool)
        /// Nothing is known of it, not even its call.
        case unreadable(opens: Bool)
        case item(id: Int64)
        case end(id: Int64)
        case cancel(id: Int64)
        /// The stream cannot be followed any more; by the status's name.
        case fatal(String)
    }

    public let bytes: [UInt8]
    public let meaning: Meaning

    /// The longest message in these frames' streams.
    public static let limit = 4096

    /// - Parameter fatal: whether the frame may end its stream.
    public init(_ random: inout SeededRandom, fatal: Bool) {
        if fatal, random.once(in: 40) {
            (bytes, meaning) = Self.fatal(&random)
            return
        }
        var (text, meaning) = random.once(in: 6) ? Self.unreadable(&random) : Self.message(&random)
        while text.count > Self.limit { (text, meaning) = Self.message(&random) }
        self.meaning = meaning
        if random.once(in: 8), let compressed = try? Zlib.deflate(text, level: random.below(10)),
            compressed.count <= Self.limit
        {
            bytes = RawClient.frame(compressed, flag: 1)
        } else {
            bytes = RawClient.frame(text)
        }
    }

    private static func fatal(_ random: inout SeededRandom) -> ([UInt8], Meaning) {
        switch random.below(4) {
        case 0:
            let flag = UInt8(2 + random.below(254))
            return (RawClient.frame(Array("{}".utf8), flag: flag), .fatal("INVALID_ARGUMENT"))
        case 1:
            let length = random.pick([limit + 1, limit * 2, 1 << 31, Int(UInt32.max)])
            let prefix = (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) }
            return ([UInt8(random.below(2))] + prefix, .fatal("RESOURCE_EXHAUSTED"))
        case 2:
            let bomb = [UInt8](repeating: 0x20, count: limit + 1 + random.below(100_000))
            let compressed = (try? Zlib.deflate(bomb, level: 9)) ?? []
            return (RawClient.frame(compressed, flag: 1), .fatal("RESOURCE_EXHAUSTED"))
        default:
            // 0xFF is no method that zlib has.
            return (RawClient.frame([0xFF, UInt8(random.below(256)), 1], flag: 1), .fatal("INVALID_ARGUMENT"))
        }
    }

    private static func unreadable(_ random: inout SeededRandom) -> ([UInt8], Meaning) {
        let opening = #""method":"\#(Method.unary.rawValue)""#
        let badID = random.pick([
            "0", "-1", "1.5", "\"1\"", "null", "[1]", "{}", "9007199254740992", "1e300", "true", "1e-3",
        ])
        switch random.below(5) {
        case 0: return (Array(#"{"id":\#(badID),\#(opening)}"#.utf8), .unreadable(opens: true))
        case 1: return (Array(#"{"id":\#(badID),"item":{}}"#.utf8), .unreadable(opens: false))
        case 2: return (Array("{\(opening)}".utf8), .unreadable(opens: true))
        case 3:
            let text = random.pick([
                "", " ", "[]", "7", "null", "\"x\"", "{", #"{"id":1"#, #"{"id":1,"item":{}}}"#, "{}", "{]",
                #"{"id":1,"item":{"x":"\ud800"}}"#, #"{"id":1e999,"item":{}}"#, #"{"id":01,"item":{}}"#,
                #"{"id":1 "item":{}}"#, #"{"id":1,"item":{"x":"\q"}}"#, "{\"id\":1,\"item\":{\"a\u{1}\":1}}",
                #"{"id":1,"item":\#(String(repeating: "[", count: 70))"#,
                #"{"id":0,"item":{"x":\#(String(repeating: "[", count: 63))\#(String(repeating: "]", count: 63))}}"#,
            ])
            return (Array(text.utf8), .unreadable(opens: false))
        default:
            let bytes =
                Array(#"{"id":1,"item":{"x":""#.utf8)
                + random.pick([[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80]])
            return (bytes + Array(#""}}"#.utf8), .unreadable(opens: false))
        }
    }

    private static func message(_ random: inout SeededRandom) -> ([UInt8], Meaning) {
        let id = Int64(1 + random.below(6))
        let idText = random.once(in: 9) ? random.pick(["\(id).0", "\(id)e0", "\(id)0e-1"]) : "\(id)"
        var members = [("id", idText)]
        let meaning = kind(id, &members, &random)
        if random.once(in: 4) { members.append(("more", MessageText.value(&random, depth: 0))) }
        return (MessageText.object(members, &random), meaning)
    }

    private static func kind(
        _ id: Int64, _ members: inout [(String, String)], _ random: inout SeededRandom
    ) -> Meaning {
        switch random.below(12) {
        case 0...4:
            let method = random.pick(Method.allCases)
            members.append(("method", "\"\(method.rawValue)\""))
            if random.once(in: 2) { members.append(("params", MessageText.params(&random))) }
            if random.once(in: 3) { members.append(("timeoutMs", random.pick(["0", "30000", "1e3"]))) }
            if random.once(in: 12) { members.append(("acceptEncoding", "\"identity\"")) }
            return .open(id: id, method)
        case 5, 6:
            members.append(("item", MessageText.params(&random)))
            return .item(id: id)
        case 7:
            members.append(("end", "true"))
            return .end(id: id)
        case 8:
            members.append(("cancel", "true"))
            return .cancel(id: id)
        case 9:
            members.append(
                random.pick([("item", "[]"), ("item", "1"), ("end", "false"), ("cancel", "1"), ("end", "{}")]))
            return .unusable(id: id, opens: false)
        case 10:
            if random.once(in: 2) { members += [("item", "{}"), ("end", "true")] }
            return .unusable(id: id, opens: false)
        default:
            let bad = random.pick([
                ("params", "[]"), ("params", "null"), ("timeoutMs", "-1"), ("timeoutMs", "0.5"),
                ("timeoutMs", "\"1\""), ("acceptEncoding", "\"gzip\""), ("acceptEncoding", "1"),
                ("cancel", "true"), ("item", "{}"), ("method", "7"),
            ])
            if bad.0 != "method" { members.append(("method", "\"\(Method.unary.rawValue)\"")) }
            members.append(bad)
            return .unusable(id: id, opens: true)
        }
    }
}
