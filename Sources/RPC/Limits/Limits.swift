// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import SystemSupport

/// All limits of the server; `GetServerInfo` reports them.
public struct Limits: Sendable, Equatable {
    /// Maximum size in bytes of a message to the server, both as sent and as inflated.
    public var maxMessageBytes = MessageLimits.maximumMessageBytes
    /// Maximum size of an answer in bytes.
    public var maxAnswerBytes = MessageLimits.maximumAnswerBytes
    public var maxConnections = 8192
    /// Calls in flight on one connection.
    public var maxCallsPerConnection = 1024
    /// Calls in flight on all connections.
    public var maxCalls = 16384
    /// Connections, calls in flight, sources and bytes of sources of one user. 0: no limit. They do not apply to
    /// administrators.
    public var maxConnectionsPerUser = 1024
    public var maxCallsPerUser = 4096
    public var maxSourcesPerUser = 1000
    public var maxSourceBytesPerUser = 0
    /// The largest file that `LoadFile` reads, in bytes as stored on disk. 0: no limit.
    public var maxFileBytes = 0
    /// Bytes that all sources and imports may use. 0: as much as the system allows.
    public var memoryBytes = 0
    /// Bytes of answers that may wait for one client; above this, its connection is not read.
    public var maxQueuedBytesPerConnection = 8 << 20
    /// Bytes of answers that may wait for all clients; above this, large answers are refused, and connections
    /// whose answers wait are not read.
    public var maxQueuedBytes = 64 << 20
    /// Bytes of incomplete messages over all connections; above this, connections that send large messages are
    /// closed.
    public var maxInputBytes = 256 << 20
    /// Bytes of a stream's items that may wait to be processed; above this, the client's connection is not read.
    public var maxStreamBytes = 32 << 20
    /// Features that all watching clients may have; above this, a viewport that would show more ends.
    public var maxWatchedFeatures = 4 << 20
    /// The longest deadline in milliseconds, which also applies to calls without one. 0: no limit.
    public var maxTimeoutMs = 0
    /// How long a client may leave answers unread before its connection is closed, in seconds.
    public var stallSeconds = 30
    /// How long a client may take to complete a message, in seconds.
    public var messageSeconds = 60
    /// How long calls in flight may continue when the server shuts down, in milliseconds.
    public var shutdownGraceMs = 5000
    /// How many messages of one connection are processed before other connections get a turn.
    public var messagesPerTurn = 32
    /// Bytes of filtered indexes to cache.
    public var filterCacheBytes = 256 << 20
    /// How long a start waits until all sources have been read before it serves, in seconds.
    public var startSeconds = 5
    /// Threads that receive messages and answer short calls.
    public var loopThreads = AvailableProcessors.count
    /// How long a loop polls for a next message before it sleeps, in microseconds, while messages follow that soon. 0: it never polls.
    public var pollMicroseconds = 50
    /// Threads that a build uses.
    public var buildThreads = AvailableProcessors.count
    /// Long queries that run at once.
    public var queryThreads = 2
    /// Imports, builds and other changes that run at once.
    public var changeThreads = 8

    public init() {}

    /// The limits as `GetServerInfo` returns them.
    public var json: JSONObject {
        JSONObject(Self.table.map { ($0.name, .number(Double(self[keyPath: $0.place]))) })
    }
}
