// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import SystemSupport

/// All limits of the server; `GetServerInfo` reports them. The table says what each one limits.
public struct Limits: Sendable, Equatable {
    public var maxMessageBytes = MessageLimits.maximumMessageBytes
    public var maxAnswerBytes = MessageLimits.maximumAnswerBytes
    public var maxConnections = 8192
    public var maxCallsPerConnection = 1024
    public var maxCalls = 16384
    public var maxConnectionsPerUser = 1024
    public var maxCallsPerUser = 4096
    public var maxSourcesPerUser = 1000
    public var maxSourceBytesPerUser = 0
    public var maxFileBytes = 0
    public var memoryBytes = 0
    public var maxQueuedBytesPerConnection = 8 << 20
    public var maxQueuedBytes = 64 << 20
    public var maxInputBytes = 256 << 20
    public var maxStreamBytes = 32 << 20
    public var maxWatchedFeatures = 4 << 20
    public var maxTimeoutMs = 0
    public var stallSeconds = 30
    public var messageSeconds = 60
    public var shutdownGraceMs = 5000
    public var messagesPerTurn = 32
    public var filterCacheBytes = 256 << 20
    public var startSeconds = 5
    public var loopThreads = AvailableProcessors.count
    public var pollMicroseconds = 50
    public var buildThreads = AvailableProcessors.count
    public var queryThreads = 2
    public var changeThreads = 8

    public init() {}

    /// The limits as `GetServerInfo` returns them.
    public var json: JSONObject {
        JSONObject(Self.table.map { ($0.name, .number(Double(self[keyPath: $0.keyPath]))) })
    }
}
