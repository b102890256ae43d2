// SPDX-License-Identifier: MIT

/// What a load generator has measured.
public struct LoadResult {
    public internal(set) var answers = 0
    public internal(set) var errors = 0
    public internal(set) var bytes = 0
    public internal(set) var seconds = 0.0
    public internal(set) var latency = LatencyHistogram()
    /// Connections that the server has closed.
    public internal(set) var lostConnections = 0

    public var rate: Double { seconds > 0 ? Double(answers) / seconds : 0 }
}
