// SPDX-License-Identifier: MIT

/// The name of a source: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
///
/// A name is safe as a file name and in a log line: it is ASCII, not empty and never begins with a dot.
public struct SourceName: Sendable, Hashable, CustomStringConvertible {
    /// The name.
    public let text: String

    /// Nil if `text` is not a valid name.
    public init?(_ text: String) {
        var name = text
        let isGood = name.withUTF8 { bytes in
            guard let first = bytes.first, bytes.count <= Self.maximumLength, Self.isAlphanumeric(first)
            else { return false }
            for byte in bytes where !Self.isAlphanumeric(byte) && !Self.isPunctuation(byte) { return false }
            return true
        }
        guard isGood else { return nil }
        self.text = text
    }

    public var description: String { text }

    /// The pattern of names, for messages.
    public static let pattern = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}"

    package static let maximumLength = 64

    private static func isPunctuation(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

/// What a query names: a source, or one of its views as `SOURCE:VIEW`.
public struct SourceReference: Sendable, Equatable, CustomStringConvertible {
    public let source: SourceName
    /// Nil for the source itself.
    public let view: SourceName?

    public init(_ source: SourceName, view: SourceName? = nil) { (self.source, self.view) = (source, view) }

    /// Nil if `text` names neither.
    public init?(_ text: String) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            guard let source = SourceName(text) else { return nil }
            self.init(source)
            return
        }
        guard let source = SourceName(String(text[..<colon])),
            let view = SourceName(String(text[text.index(after: colon)...]))
        else { return nil }
        self.init(source, view: view)
    }

    /// The name as a query has it, which is also the layer of its tiles.
    public var text: String { view.map { "\(source.text):\($0.text)" } ?? source.text }

    public var description: String { text }
}

extension SourceName: Comparable {
    /// Compares the names' bytes.
    public static func < (first: SourceName, second: SourceName) -> Bool {
        first.text.utf8.lexicographicallyPrecedes(second.text.utf8)
    }
}
