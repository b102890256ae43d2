// SPDX-License-Identifier: MIT

/// What is logged, and in which format.
public struct LogSettings: Sendable, Equatable {
    public var level = Log.Level.info
    public var format = Log.Format.auto
    /// Calls that take longer than this are logged, in milliseconds; 0: none.
    public var slowCallMs = 1000
    /// Whether calls that are denied or change sources are logged.
    public var audits = true

    public init() {}
}
