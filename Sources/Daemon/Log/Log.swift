// SPDX-License-Identifier: MIT
import RPC
import EventLoop
import Glibc
import JSON
import SystemSupport
import Synchronization

/// Writes lines to standard error, never with a source's data. Safe from any thread.
public final class Log: Sendable {
    public enum Level: Int, Sendable, CaseIterable, Comparable {
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6
        case debug = 7

        public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }

        public var name: String { "\(self)" }

        public init?(name: String) {
            guard let level = Level.allCases.first(where: { $0.name == name }) else { return nil }
            self = level
        }
    }

    public enum Format: String, Sendable, CaseIterable {
        /// `journal` if journald reads standard error, else `text`.
        case auto
        /// Lines that begin with the priority, as in sd-daemon(3).
        case journal
        /// Lines for people.
        case text
        /// One JSON object per line.
        case json
    }

    private let settings: Mutex<LogSettings>
    private let isJournal: Bool
    private let output: LogOutput

    /// - Parameter isJournal: whether journald reads standard error; by default determined from the environment.
    public init(_ settings: LogSettings, isJournal: Bool = Log.isReadByJournal) {
        self.settings = Mutex(settings)
        self.isJournal = isJournal
        output = LogOutput(STDERR_FILENO)
    }

    /// Applies to lines written afterwards.
    public func set(_ settings: LogSettings) { self.settings.withLock { $0 = settings } }

    /// - Parameter fields: further fields for programs; JSON has them as members, the other formats as `name=value`.
    public func write(_ level: Level, _ message: String, _ fields: JSONObject = [:]) {
        guard let line = line(level, message, fields) else { return }
        if line.hasPrefix("<"), isJournal, Self.sendToJournal(level, message, fields) { return }
        output.write(line)
    }

    /// Waits until the written lines have been read, but no longer than the given time.
    public func flush(milliseconds: Int) { output.flush(milliseconds: milliseconds) }

    /// Sends an entry to journald, whose fields journalctl can search; false if it goes to standard error
    /// (systemd.io, "Native Journal Protocol").
    private static func sendToJournal(_ level: Level, _ message: String, _ fields: JSONObject) -> Bool {
        guard let address = UnixSocketAddress(path: "/run/systemd/journal/socket") else { return false }
        var entry =
            "PRIORITY=\(level.rawValue)\nSYSLOG_IDENTIFIER=clusterd\nMESSAGE=\(oneLine(message, fields))\n"
        for (name, value) in fields.members {
            entry += "CLUSTERD_\(name.uppercased())=\(oneLine(plainText(value)))\n"
        }
        return address.send(entry)
    }

    private static func plainText(_ value: JSONValue) -> String {
        if case .string(let text) = value { text } else { value.text }
    }

    /// The line that `write` writes; nil if its level is not logged.
    func line(_ level: Level, _ message: String, _ fields: JSONObject) -> String? {
        let settings = settings.withLock { $0 }
        guard level <= settings.level else { return nil }
        if settings.format == .json { return json(level, message, fields) }
        let isForJournal = settings.format == .journal || settings.format == .auto && isJournal
        let start = isForJournal ? "<\(level.rawValue)>" : "clusterd: \(level.name): "
        return "\(start)\(Self.oneLine(message, fields))\n"
    }

    private static func oneLine(_ message: String, _ fields: JSONObject) -> String {
        oneLine(fields.members.reduce(message) { "\($0) \($1.key)=\($1.value.text)" })
    }

    /// The text as one line, whatever it contains.
    private static func oneLine(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? " " : Character($0) })
    }

    private func json(_ level: Level, _ message: String, _ fields: JSONObject) -> String {
        var object: JSONObject = [
            "time": .string(Timestamp.now.text), "level": .string(level.name), "message": .string(message),
        ]
        for (name, value) in fields.members { object[name] = value }
        return JSONValue.object(object).text + "\n"
    }

    /// Whether `$JOURNAL_STREAM` identifies the file that is standard error (systemd.exec(5)).
    public static var isReadByJournal: Bool {
        guard let name = getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return false }
        return String(cString: name) == "\(status.st_dev):\(status.st_ino)"
    }
}

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
