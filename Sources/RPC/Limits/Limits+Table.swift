// SPDX-License-Identifier: MIT
import Responses
import SourceEngine

extension Limits {
    /// One limit: its name, and what the configuration and the documentation say about it.
    public struct Entry: Sendable {
        /// Its name in the configuration and in `GetServerInfo`.
        public let name: String
        public let keyPath: WritableKeyPath<Limits, Int> & Sendable
        /// The smallest valid value; 0 if that means "no limit".
        public let minimum: Int
        /// Whether a reload changes it; other limits change only with a restart.
        public let isLive: Bool
        /// Whether the default depends on the machine; the help says how.
        public let isByMachine: Bool
        /// What it limits, for the manual.
        public let help: String
    }

    /// All limits, in the order of `GetServerInfo`.
    public static let table: [Entry] = [
        fixed("maxMessageBytes", \.maxMessageBytes, "Bytes of a message to the server, both as sent and decompressed."),
        live("maxAnswerBytes", \.maxAnswerBytes, "Bytes of an answer."),
        live("maxConnections", \.maxConnections, "Connections at once."),
        fixed("maxCallsPerConnection", \.maxCallsPerConnection, "Calls in flight on one connection."),
        live("maxCalls", \.maxCalls, "Calls in flight on all connections."),
        live("maxConnectionsPerUser", \.maxConnectionsPerUser, from: 0, "Connections of one user. 0: no limit."),
        live("maxCallsPerUser", \.maxCallsPerUser, from: 0, "Calls in flight of one user. 0: no limit."),
        live("maxSourcesPerUser", \.maxSourcesPerUser, from: 0, "Sources that one user created. 0: no limit."),
        live(
            "maxSourceBytesPerUser", \.maxSourceBytesPerUser, from: 0,
            "Bytes that the sources of one user hold, in memory and in files. 0: no limit."),
        live("maxFileBytes", \.maxFileBytes, from: 0, "Bytes of a file that LoadFile reads. 0: any."),
        live(
            "memoryBytes", \.memoryBytes, from: 0,
            "Bytes of memory that all sources, imports, builds, filters and cached text hold. An import that would exceed it is rejected, unless its index may lie in a file of the state directory. 0: no limit."
        ),
        live(
            "maxQueuedBytesPerConnection", \.maxQueuedBytesPerConnection,
            "Bytes of answers that may wait for one client; above that, its messages are not read."),
        fixed("maxQueuedBytes", \.maxQueuedBytes, "Bytes of answers that wait for all clients."),
        live(
            "maxStreamBytes", \.maxStreamBytes,
            "Bytes of an import that may wait to be processed; above that, its client's messages are not read."
        ),
        live("maxWatchedFeatures", \.maxWatchedFeatures, "Features that all watching clients show."),
        live(
            "maxInputBytes", \.maxInputBytes,
            "Bytes of unfinished messages and of calls in flight, over all connections; and the same of imports that wait."
        ),
        live(
            "maxTimeoutMs", \.maxTimeoutMs, from: 0,
            "The longest deadline of a call, in milliseconds, also of calls that give none. 0: no limit."),
        live(
            "stallSeconds", \.stallSeconds,
            "How long a client may leave answers unread before its connection is closed, in seconds. Sooner if the memory is needed."
        ),
        live(
            "messageSeconds", \.messageSeconds,
            "How long a message may take to arrive, in seconds."),
        live(
            "shutdownGraceMs", \.shutdownGraceMs, from: 0,
            "How long calls in flight may continue when the daemon ends, in milliseconds."),
        live(
            "messagesPerTurn", \.messagesPerTurn,
            "Messages of one connection that are processed before those of the others."),
        fixed(
            "filterCacheBytes", \.filterCacheBytes, from: 0,
            "Bytes that filters hold: indexes of filtered features, the properties that they read, and what building these takes. If memoryBytes is not 0, filters hold no more than is free of it, and also half of that if it is more; one that would take more is rejected."
        ),
        fixed(
            "startSeconds", \.startSeconds, from: 0,
            "How long a start opens sources before the daemon serves, in seconds. Sources that take longer follow."
        ),
        byProcessors(
            "loopThreads", \.loopThreads, "Threads that read messages and answer short calls."),
        fixed(
            "pollMicroseconds", \.pollMicroseconds, from: 0,
            "How long a loop thread that has answered polls for the next message before it sleeps, in microseconds, while messages follow on answers that soon. At most a quarter of the processors poll at once. 0: none does."
        ),
        byProcessors("buildThreads", \.buildThreads, "Threads that one build uses."),
        fixed("queryThreads", \.queryThreads, "Long queries at once."),
        fixed("changeThreads", \.changeThreads, "Imports, builds and other changes at once."),
    ]

    private static func live(
        _ name: String, _ keyPath: WritableKeyPath<Limits, Int> & Sendable, from minimum: Int = 1,
        _ help: String
    ) -> Entry {
        Entry(name: name, keyPath: keyPath, minimum: minimum, isLive: true, isByMachine: false, help: help)
    }

    private static func fixed(
        _ name: String, _ keyPath: WritableKeyPath<Limits, Int> & Sendable, from minimum: Int = 1,
        _ help: String
    ) -> Entry {
        Entry(name: name, keyPath: keyPath, minimum: minimum, isLive: false, isByMachine: false, help: help)
    }

    private static func byProcessors(
        _ name: String, _ keyPath: WritableKeyPath<Limits, Int> & Sendable, _ help: String
    ) -> Entry {
        Entry(
            name: name, keyPath: keyPath, minimum: 1, isLive: false, isByMachine: true,
            help: help + " By default one for each processor that the process may use.")
    }

    /// These limits, with the values from `other` of those that a running server can change.
    package func taking(liveFrom other: Limits) -> Limits {
        var limits = self
        for entry in Self.table where entry.isLive {
            limits[keyPath: entry.keyPath] = other[keyPath: entry.keyPath]
        }
        return limits
    }

    /// The limits that concern the memory of sources.
    package var memory: MemoryBudget.Limit {
        MemoryBudget.Limit(bytes: memoryBytes, bytesPerOwner: maxSourceBytesPerUser, sourcesPerOwner: maxSourcesPerUser)
    }
}
