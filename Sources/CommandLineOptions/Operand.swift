// SPDX-License-Identifier: MIT

/// One operand of a command, such as `SOURCE`.
public struct Operand: Sendable, Equatable {
    public enum Count: Sendable, Equatable { case one, optional, any }

    /// As shown in help, in capitals.
    public let name: String
    public let kind: ValueKind
    public let count: Count
    /// The value of an optional operand that is not given; nil if there is none. Help shows it.
    public let standard: String?
    public let help: String

    public init(
        _ name: String, kind: ValueKind = .text, count: Count = .one, default standard: String? = nil,
        help: String
    ) {
        self.name = name
        self.kind = kind
        self.count = count
        self.standard = standard
        self.help = help
    }

    /// The help, with the default.
    var helpWithDefault: String { help + (standard.map { "; default \($0)" } ?? "") }
}
