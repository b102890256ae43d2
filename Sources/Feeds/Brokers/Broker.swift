// SPDX-License-Identifier: MIT

/// A message of a broker or a log.
public struct BrokerMessage: Sendable, Equatable {
    /// The log's position after it.
    public let position: String
    /// What names the object that the message is about: its key, or a part of its subject. Nil: nothing does.
    public let key: String?
    public let body: [UInt8]

    public init(position: String, key: String?, body: [UInt8]) {
        (self.position, self.key, self.body) = (position, key, body)
    }
}

/// Where messages come from. Its functions block; one thread at a time calls them.
package protocol Broker: AnyObject, Sendable {
    /// The name of the log that the source follows.
    var log: String { get }
    /// Whether positions say where to continue. Otherwise the broker knows by itself what was not applied.
    var hasPositions: Bool { get }

    /// Connects, and continues after a position.
    ///
    /// - Parameter position: nil for the beginning.
    func start(after position: String?, resetsToEarliest: Bool) throws(BrokerError)

    /// Waits for messages, up to a tenth of a second; nil once there will never be any more.
    func receive() throws(BrokerError) -> [BrokerMessage]?

    /// Everything received so far has been applied.
    func appliedAll() throws(BrokerError)

    /// Disconnects, and leaves nothing behind.
    func stop()

    /// Reads a few messages without changing anything, for at most `seconds`.
    func peek(seconds: Int) throws(BrokerError) -> [BrokerMessage]
}

/// Why a broker gives no messages.
package enum BrokerError: Error, Equatable {
    /// It is down or refuses; another attempt may succeed.
    case unavailable(String)
    /// The position is no longer there.
    case gone(String)
    /// Only another configuration helps.
    case unusable(String)

    var message: String {
        switch self {
        case .unavailable(let message), .gone(let message), .unusable(let message): message
        }
    }
}

/// A broker's address: `SCHEME://[USER[:PASSWORD]@]HOST[:PORT]/PATH[?NAME=VALUE…]`. Not a URL to the letter: `#` and `+`
/// stand for themselves in the path.
package struct BrokerAddress: Equatable, Sendable {
    package let scheme: String
    package let user: String?
    package let password: String?
    package let host: String
    package let port: Int
    package let path: String
    package let query: [String: String]

    private static let ports = ["nats": 4222, "kafka": 9092, "mqtt": 1883]

    /// Nil if the text is not such an address.
    package init?(_ text: String) {
        guard let mark = text.firstRange(of: "://") else { return nil }
        scheme = text[..<mark.lowerBound].lowercased()
        guard let standard = Self.ports[scheme] else { return nil }
        let rest = text[mark.upperBound...]
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        var authority = rest[..<slash]
        if let at = authority.lastIndex(of: "@") {
            let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = Self.decoded(parts[0])
            password = parts.count > 1 ? Self.decoded(parts[1]) : nil
            authority = authority[authority.index(after: at)...]
        } else {
            (user, password) = (nil, nil)
        }
        guard let (host, port) = Self.endpoint(authority, standard: standard) else { return nil }
        (self.host, self.port) = (host, port)
        var path = rest[rest.index(after: slash)...]
        var query: [String: String] = [:]
        if let question = path.firstIndex(of: "?") {
            for pair in path[path.index(after: question)...].split(separator: "&") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                query[Self.decoded(parts[0])] = parts.count > 1 ? Self.decoded(parts[1]) : ""
            }
            path = path[..<question]
        }
        self.path = Self.decoded(path)
        self.query = query
        guard !self.path.isEmpty else { return nil }
    }

    private static func endpoint(_ text: Substring, standard: Int) -> (String, Int)? {
        if text.first == "[", let end = text.firstIndex(of: "]") {
            let host = String(text[text.index(after: text.startIndex)..<end])
            let rest = text[text.index(after: end)...]
            guard !rest.isEmpty else { return (host, standard) }
            return rest.first == ":" ? port(rest.dropFirst()).map { (host, $0) } : nil
        }
        guard let colon = text.lastIndex(of: ":") else { return text.isEmpty ? nil : (String(text), standard) }
        let host = text[..<colon]
        guard !host.isEmpty, !host.contains(":") else { return nil }
        return port(text[text.index(after: colon)...]).map { (String(host), $0) }
    }

    private static func port(_ text: Substring) -> Int? {
        Int(text).flatMap { (1...65_535).contains($0) ? $0 : nil }
    }

    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The host and the port, as messages and libraries have them.
    var endpoint: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
