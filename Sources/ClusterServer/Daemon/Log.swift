// SPDX-License-Identifier: MIT
import Glibc

/// Lines on standard error: with journald's priority prefixes where systemd reads them (sd-daemon(3)), plain
/// elsewhere. Never a source's data.
public struct Log: Sendable {
    public enum Level: Int, Sendable, CaseIterable, Comparable {
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6
        case debug = 7

        public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }

        public var name: String {
            switch self {
            case .error: "error"
            case .warning: "warning"
            case .notice: "notice"
            case .info: "info"
            case .debug: "debug"
            }
        }

        public init?(name: String) {
            guard let level = Level.allCases.first(where: { $0.name == name }) else { return nil }
            self = level
        }
    }

    public var level: Level
    private let isJournal: Bool

    /// - Parameter isJournal: whether journald reads standard error; by default as the environment tells.
    public init(level: Level, isJournal: Bool = getenv("JOURNAL_STREAM") != nil) {
        self.level = level
        self.isJournal = isJournal
    }

    public func write(_ level: Level, _ message: String) {
        guard level <= self.level else { return }
        var line = isJournal ? "<\(level.rawValue)>\(message)\n" : "clusterd: \(level.name): \(message)\n"
        line.withUTF8 { bytes in _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
}
