// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import SystemSupport

/// Every number that bounds the server, in one place; `GetServerInfo` shows them.
public struct Limits: Sendable, Equatable {
    /// The most bytes of a message to the server, as sent and as inflated.
    public var maxMessageBytes = MessageLimits.maximumMessageBytes
    /// The most bytes of an answer.
    public var maxAnswerBytes = MessageLimits.maximumAnswerBytes
    public var maxConnections = 8192
    /// Calls in flight on one connection.
    public var maxCallsPerConnection = 1024
    /// Calls in flight on all connections.
    public var maxCalls = 16384
    /// Connections of one user, and calls in flight, sources and bytes of sources. 0: no limit. Administrators
    /// have none of them.
    public var maxConnectionsPerUser = 1024
    public var maxCallsPerUser = 4096
    public var maxSourcesPerUser = 1000
    public var maxSourceBytesPerUser = 0
    /// The largest file that `LoadFile` reads, in bytes as it lies on disk. 0: any.
    public var maxFileBytes = 0
    /// Bytes that all sources and imports may hold. 0: what there is.
    public var memoryBytes = 0
    /// Bytes of answers that wait for one client; above, nothing more is read from it.
    public var maxQueuedBytesPerConnection = 8 << 20
    /// The same over all connections; above, large answers are refused, and nothing more is read from those
    /// whose answers wait.
    public var maxQueuedBytes = 64 << 20
    /// Bytes of messages that have not come whole yet, over all connections; above, those who send large ones
    /// are closed.
    public var maxInputBytes = 256 << 20
    /// Bytes of a stream's items that wait to be worked on; above, nothing more is read from its client.
    public var maxStreamBytes = 32 << 20
    /// Features that all watching clients have; above, a viewport that would show more ends.
    public var maxWatchedFeatures = 4 << 20
    /// The longest deadline, in milliseconds; also that of calls without one. 0: none.
    public var maxTimeoutMs = 0
    /// How long a client may leave answers unread before it is closed, in seconds.
    public var stallSeconds = 30
    /// Within how many seconds a message must be complete that has begun.
    public var messageSeconds = 60
    /// How long calls in flight may go on when the server ends, in milliseconds.
    public var shutdownGraceMs = 5000
    /// Messages of one connection that are worked on before the others have their turn.
    public var messagesPerTurn = 32
    /// Bytes of filtered indexes kept.
    public var filterCacheBytes = 256 << 20
    /// Bytes of features' text kept that were read from snapshots.
    public var textCacheBytes = 256 << 20
    /// Threads that take messages in and answer short calls.
    public var loopThreads = AvailableProcessors.count
    /// Threads that a build uses.
    public var buildThreads = AvailableProcessors.count
    /// Long queries at once.
    public var queryThreads = 2
    /// Imports, builds and other changes at once.
    public var changeThreads = 8

    public init() {}

    /// The limits as `GetServerInfo` returns them.
    public var json: JSONObject {
        JSONObject(Self.table.map { ($0.name, .number(Double(self[keyPath: $0.place]))) })
    }
}
