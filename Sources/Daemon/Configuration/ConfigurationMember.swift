// SPDX-License-Identifier: MIT
import JSON

/// The type of a configuration member.
indirect enum ConfigurationKind {
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
    /// A value of the first kind, or an object of the second.
    case either(ConfigurationKind, ConfigurationKind)
}

/// A member as the documentation describes it.
struct ConfigurationEntry {
    let name: String
    let kind: ConfigurationKind
    /// The default; nil if there is none.
    let standard: JSONValue?
    /// The help: a sentence or two.
    let help: String
    /// Whether a reload changes it.
    let isLive: Bool
    /// Whether an object without it is rejected.
    let isRequired: Bool
}

/// One member of an object in the configuration. Parser, schema, manual and documentation derive from it.
struct ConfigurationMember<Target>: Sendable {
    typealias Read = @Sendable (ConfigurationValue, inout Target) throws(Configuration.Problem) -> Void

    let name: String
    private let makeKind: @Sendable () -> ConfigurationKind
    /// The default; nil if there is none.
    let standard: JSONValue?
    let help: String
    let isLive: Bool
    let isRequired: Bool
    /// Applies a value that has been found to be of the kind.
    let read: Read

    init(
        _ name: String, _ kind: @autoclosure @escaping @Sendable () -> ConfigurationKind,
        default standard: JSONValue? = nil, isLive: Bool = true, isRequired: Bool = false, _ help: String,
        read: @escaping Read
    ) {
        self.name = name
        self.standard = standard
        makeKind = kind
        self.help = help
        self.isLive = isLive
        self.isRequired = isRequired
        self.read = read
    }

    var kind: ConfigurationKind { makeKind() }
    var entry: ConfigurationEntry {
        ConfigurationEntry(
            name: name, kind: kind, standard: standard, help: help, isLive: isLive, isRequired: isRequired)
    }
}
