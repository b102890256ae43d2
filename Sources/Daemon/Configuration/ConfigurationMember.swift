// SPDX-License-Identifier: MIT
import JSON

/// One member of an object in the configuration. Parser, schema, manual, documentation and reloads derive from it.
struct ConfigurationMember<Target>: Sendable {
    typealias Read = @Sendable (ConfigurationValue, inout Target) throws(Configuration.Problem) -> Void

    let entry: ConfigurationEntry
    /// The values that only a restart changes: the member's own, or of its members, with names such as `http.listen`.
    let fixed: [(name: String, value: FixedValue<Target>)]
    /// Applies a value that has been found to be of the kind.
    let read: Read

    /// - Parameter fixed: where the value is, if only a restart changes it; nil if a reload does.
    init(
        _ name: String, _ kind: ConfigurationKind, default standard: JSONValue? = nil,
        fixed: FixedValue<Target>? = nil, isRequired: Bool = false, _ help: String, read: @escaping Read
    ) {
        entry = ConfigurationEntry(
            name: name, kind: kind, standard: standard, help: help, isLive: fixed == nil, isRequired: isRequired)
        self.fixed = fixed.map { [(name, $0)] } ?? []
        self.read = read
    }

    /// An object with its own members, which are read into a part of the target.
    ///
    /// - Parameter fresh: what they are read into instead of the part's present value.
    init<Part: Sendable>(
        _ name: String, _ members: [ConfigurationMember<Part>],
        at keyPath: WritableKeyPath<Target, Part> & Sendable, replacedBy fresh: Part? = nil, _ help: String
    ) {
        entry = ConfigurationEntry(name: name, kind: .members(members.map(\.entry)), help: help)
        fixed = members.flatMap(\.fixed).map { ("\(name).\($0.name)", $0.value.within(keyPath)) }
        read = { (value, target) throws(Configuration.Problem) in
            if let fresh { target[keyPath: keyPath] = fresh }
            try value.read(by: members, into: &target[keyPath: keyPath])
        }
    }
}

extension ConfigurationMember {
    /// The same member of what contains the target.
    func within<Outer>(_ target: WritableKeyPath<Outer, Target> & Sendable) -> ConfigurationMember<Outer> {
        ConfigurationMember<Outer>(
            entry.name, entry.kind, default: entry.standard, isRequired: entry.isRequired, entry.help
        ) { [read] (value, outer) throws(Configuration.Problem) in try read(value, &outer[keyPath: target]) }
    }
}

/// A member as the documentation describes it.
struct ConfigurationEntry: Sendable {
    let name: String
    let kind: ConfigurationKind
    /// The default; nil if there is none.
    var standard: JSONValue?
    /// The help: a sentence or two.
    let help: String
    /// Whether a reload changes the member's own value.
    var isLive = true
    /// Whether an object without it is rejected.
    var isRequired = false
}

/// The type of a configuration member.
indirect enum ConfigurationKind: Sendable {
    case text
    /// An integer of at least the minimum.
    case integer(minimum: Int64)
    case boolean
    case oneOf([String])
    case list(ConfigurationKind)
    /// A user's or a group's name or number.
    case account
    /// An object with its own members.
    case members([ConfigurationEntry])
    /// An object whose members are such objects, by name.
    case table([ConfigurationEntry])
    /// A source's options, as `CreateSource` takes them.
    case sourceOptions
    /// An expression.
    case expression
    /// A value of the first kind, or an object of the second.
    case either(ConfigurationKind, ConfigurationKind)
}

/// Where a value is that only a restart changes: how two configurations are compared in it, and how one takes
/// it from the other.
struct FixedValue<Target>: Sendable {
    let differs: @Sendable (Target, Target) -> Bool
    let keep: @Sendable (_ old: Target, _ new: inout Target) -> Void

    static func at<Value: Equatable & SendableMetatype>(
        _ keyPath: WritableKeyPath<Target, Value> & Sendable
    ) -> FixedValue {
        FixedValue {
            $0[keyPath: keyPath] != $1[keyPath: keyPath]
        } keep: { old, new in
            new[keyPath: keyPath] = old[keyPath: keyPath]
        }
    }

    /// The same value in what contains the target.
    func within<Outer>(_ target: WritableKeyPath<Outer, Target> & Sendable) -> FixedValue<Outer> {
        FixedValue<Outer> { [differs] in
            differs($0[keyPath: target], $1[keyPath: target])
        } keep: { [keep] old, new in
            keep(old[keyPath: target], &new[keyPath: target])
        }
    }
}
