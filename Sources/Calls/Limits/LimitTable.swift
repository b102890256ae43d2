// SPDX-License-Identifier: MIT
import Answers
import Sources
import SystemSupport

extension Limits {
    /// One limit as the configuration and the documents have it.
    public struct Entry: Sendable {
        /// Its name in the configuration and in `GetServerInfo`.
        public let name: String
        public let place: WritableKeyPath<Limits, Int> & Sendable
        /// The least value that makes sense; 0 where that stands for "none".
        public let minimum: Int
        /// Whether a reload changes it; the others hold from start to end.
        public let isLive: Bool
        /// What it bounds, for the manual.
        public let help: String
    }

    /// All limits, in the order in which they are told.
    public static let table: [Entry] = [
        fixed(
            "maxMessageBytes", \.maxMessageBytes, "Bytes of a message to the server, as sent and as inflated."
        ),
        live("maxAnswerBytes", \.maxAnswerBytes, "Bytes of an answer."),
        live("maxConnections", \.maxConnections, "Connections at once."),
        fixed("maxCallsPerConnection", \.maxCallsPerConnection, "Calls in flight on one connection."),
        live("maxCalls", \.maxCalls, "Calls in flight on all connections."),
        live(
            "maxConnectionsPerUser", \.maxConnectionsPerUser, from: 0, "Connections of one user. 0: no limit."
        ),
        live("maxCallsPerUser", \.maxCallsPerUser, from: 0, "Calls in flight of one user. 0: no limit."),
        live("maxSourcesPerUser", \.maxSourcesPerUser, from: 0, "Sources that one user made. 0: no limit."),
        live(
            "maxSourceBytesPerUser", \.maxSourceBytesPerUser, from: 0,
            "Bytes that the sources of one user hold. 0: no limit."),
        live("maxFileBytes", \.maxFileBytes, from: 0, "Bytes of a file that LoadFile reads. 0: any."),
        live(
            "memoryBytes", \.memoryBytes, from: 0,
            "Bytes that all sources, imports and builds hold; an import that would pass it is refused. 0: no limit."
        ),
        live(
            "maxQueuedBytesPerConnection", \.maxQueuedBytesPerConnection,
            "Bytes of answers that wait for one client before nothing more is read from it."),
        fixed("maxQueuedBytes", \.maxQueuedBytes, "Bytes of answers that wait for all clients."),
        live(
            "maxStreamBytes", \.maxStreamBytes,
            "Bytes of an import that wait to be worked on before nothing more is read from its client."),
        live("maxWatchedFeatures", \.maxWatchedFeatures, "Features that all watching clients have."),
        live("maxInputBytes", \.maxInputBytes, "Bytes of unfinished messages, over all connections."),
        live(
            "maxTimeoutMs", \.maxTimeoutMs, from: 0,
            "The longest deadline of a call, in milliseconds, also of calls that tell none. 0: no limit."),
        live(
            "stallSeconds", \.stallSeconds,
            "How long a client may leave answers unread before its connection is closed, in seconds. Earlier if the room is needed."
        ),
        live(
            "messageSeconds", \.messageSeconds,
            "Within how many seconds a message must be complete that has begun."),
        live(
            "shutdownGraceMs", \.shutdownGraceMs, from: 0,
            "How long calls in flight may go on when the daemon ends, in milliseconds."),
        live("messagesPerTurn", \.messagesPerTurn, "Messages of one connection before the others' turn."),
        fixed(
            "filterCacheBytes", \.filterCacheBytes, from: 0,
            "Bytes of indexes of filtered features, and of the properties that filters read."),
        fixed("loopThreads", \.loopThreads, "Threads that take messages in and answer short calls."),
        fixed("buildThreads", \.buildThreads, "Threads that one build uses."),
        fixed("queryThreads", \.queryThreads, "Long queries at once."),
        fixed("changeThreads", \.changeThreads, "Imports, builds and other changes at once."),
    ]

    private static func live(
        _ name: String, _ place: WritableKeyPath<Limits, Int> & Sendable, from minimum: Int = 1,
        _ help: String
    ) -> Entry {
        Entry(name: name, place: place, minimum: minimum, isLive: true, help: help)
    }

    private static func fixed(
        _ name: String, _ place: WritableKeyPath<Limits, Int> & Sendable, from minimum: Int = 1,
        _ help: String
    ) -> Entry {
        Entry(name: name, place: place, minimum: minimum, isLive: false, help: help)
    }

    /// These limits with those changed that a running server can change.
    package func taking(liveFrom other: Limits) -> Limits {
        var limits = self
        for entry in Self.table where entry.isLive {
            limits[keyPath: entry.place] = other[keyPath: entry.place]
        }
        return limits
    }

    /// What a registry is told of them.
    package var memory: MemoryBudget.Limit {
        MemoryBudget.Limit(
            bytes: memoryBytes, bytesPerOwner: maxSourceBytesPerUser, sourcesPerOwner: maxSourcesPerUser)
    }
}
