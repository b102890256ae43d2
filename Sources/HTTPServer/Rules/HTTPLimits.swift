// SPDX-License-Identifier: MIT
import JSON

/// All limits of the HTTP interface; `GetServerInfo` reports them.
public struct HTTPLimits: Sendable, Equatable {
    public var maxHeadBytes = 16 << 10
    public var maxURLBytes = 8 << 10
    public var maxBodyBytes = 16 << 20
    public var headSeconds = 10
    public var idleSeconds = 60
    public var minBodyBytesPerSecond = 1 << 10
    public var maxConnections = 8192
    public var cacheBytes = 64 << 20

    public init() {}

    /// One limit, as described in the configuration and the documentation.
    public struct Entry: Sendable {
        public let name: String
        public let keyPath: WritableKeyPath<HTTPLimits, Int> & Sendable
        public let minimum: Int
        /// What it limits, for the manual.
        public let help: String
    }

    public static let table: [Entry] = [
        Entry(name: "maxHeadBytes", keyPath: \.maxHeadBytes, minimum: 256, help: "Bytes of a request's head."),
        Entry(name: "maxURLBytes", keyPath: \.maxURLBytes, minimum: 64, help: "Bytes of a request's URL."),
        Entry(
            name: "maxBodyBytes", keyPath: \.maxBodyBytes, minimum: 1,
            help: "Bytes of a request's body, except imports, which may have any length."),
        Entry(
            name: "headSeconds", keyPath: \.headSeconds, minimum: 1,
            help: "How long a request's head may take to arrive, in seconds."),
        Entry(
            name: "idleSeconds", keyPath: \.idleSeconds, minimum: 1,
            help: "After how many seconds a connection without a request is closed."),
        Entry(
            name: "minBodyBytesPerSecond", keyPath: \.minBodyBytesPerSecond, minimum: 0,
            help: "The slowest that a body may arrive, in bytes per second averaged over 30 seconds. 0: any."),
        Entry(name: "maxConnections", keyPath: \.maxConnections, minimum: 1, help: "Connections at once."),
        Entry(
            name: "cacheBytes", keyPath: \.cacheBytes, minimum: 0,
            help: "Bytes of the cache of serialized tiles, compressed or not."),
    ]

    /// The limits as `GetServerInfo` reports them.
    package var json: JSONObject {
        JSONObject(Self.table.map { ($0.name, .number(Double(self[keyPath: $0.keyPath]))) })
    }

    var ofRequests: RequestLimits {
        RequestLimits(headBytes: maxHeadBytes, targetBytes: maxURLBytes, bodyBytes: maxBodyBytes)
    }
}
