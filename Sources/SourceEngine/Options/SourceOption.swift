// SPDX-License-Identifier: MIT
import JSON

/// One option of sources: its name, default and meaning, and how it is read and written.
///
/// The reader, the writer, the flags of clusterctl and the tests of the documentation use the table `SourceOption.all`.
public struct SourceOption: Sendable {
    /// The kinds of values.
    public enum Shape: Sendable, Equatable {
        case integer(ClosedRange<Int>)
        /// A number above 0.
        case positiveNumber
        case boolean
        case text
        case oneOf([String])
        case expression
        /// Any other value, described by `help`.
        case other
    }

    public let name: String
    public let shape: Shape
    /// What the option does: a phrase without a full stop.
    public let help: String
    /// The default; nil if the option has no effect unless given.
    public let standard: JSONValue?
    let read: @Sendable (inout SourceOptions, JSONValue, _ path: String) throws(SourceError) -> Void
    /// Returns the value in the form that `read` accepts; nil if descriptions omit it.
    let write: @Sendable (SourceOptions) -> JSONValue?

    /// The option with a name; nil if there is none.
    public static func named(_ name: String) -> SourceOption? { all.first { $0.name == name } }

    init(
        _ name: String, _ shape: Shape, standard: JSONValue? = nil, _ help: String,
        read: @escaping @Sendable (inout SourceOptions, JSONValue, String) throws(SourceError) -> Void,
        write: @escaping @Sendable (SourceOptions) -> JSONValue?
    ) {
        self.name = name
        self.shape = shape
        self.standard = standard
        self.help = help
        self.read = read
        self.write = write
    }
}

extension SourceOption {
    typealias Member<Value> = WritableKeyPath<SourceOptions, Value> & Sendable

    static func integer(
        _ name: String, _ member: Member<Int>, in range: ClosedRange<Int>, _ help: String
    ) -> SourceOption {
        SourceOption(
            name, .integer(range), standard: .number(Double(SourceOptions()[keyPath: member])), help,
            read: { (options, value, path) throws(SourceError) in
                options[keyPath: member] = try OptionValue.integer(value, in: range, path: path)
            }, write: { .number(Double($0[keyPath: member])) })
    }

    static func boolean(_ name: String, _ member: Member<Bool>, _ help: String) -> SourceOption {
        SourceOption(
            name, .boolean, standard: .bool(SourceOptions()[keyPath: member]), help,
            read: { (options, value, path) throws(SourceError) in
                options[keyPath: member] = try OptionValue.boolean(value, path: path)
            }, write: { .bool($0[keyPath: member]) })
    }

    /// - Parameter isAlwaysShown: whether descriptions contain it even if it has its default.
    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ member: Member<Choice>, isAlwaysShown: Bool = false, _ help: String
    ) -> SourceOption {
        let standard = SourceOptions()[keyPath: member].rawValue
        return SourceOption(
            name, .oneOf(Choice.allCases.map(\.rawValue)), standard: .string(standard), help,
            read: { (options, value, path) throws(SourceError) in
                options[keyPath: member] = try OptionValue.choice(value, path: path)
            },
            write: {
                let value = $0[keyPath: member].rawValue
                return isAlwaysShown || value != standard ? .string(value) : nil
            })
    }

    static func expression(
        _ name: String, _ member: Member<CompiledOption?>, _ help: String,
        compile: @escaping @Sendable (JSONValue, String) throws(SourceError) -> CompiledOption
    ) -> SourceOption {
        SourceOption(
            name, .expression, help,
            read: { (options, value, path) throws(SourceError) in
                options[keyPath: member] = try compile(value, path)
            }, write: { $0[keyPath: member]?.source })
    }
}
