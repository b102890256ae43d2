// SPDX-License-Identifier: MIT
import JSON

/// What a member of the configuration may be.
indirect enum ConfigurationKind {
    case text
    /// From the minimum up.
    case integer(minimum: Int64)
    case boolean
    case oneOf([String])
    case list(ConfigurationKind)
    /// A user's or a group's name or number.
    case account
    /// An object with members of its own.
    case members([ConfigurationEntry])
    /// An object of such objects, by name.
    case table([ConfigurationEntry])
    /// A source's options, as `CreateSource` takes them.
    case sourceOptions
    /// The first, or an object: the second.
    case either(ConfigurationKind, ConfigurationKind)
}

/// A member as documents need it.
struct ConfigurationEntry {
    let name: String
    let kind: ConfigurationKind
    /// The default; nil if there is none.
    let standard: JSONValue?
    /// A sentence or two.
    let help: String
    /// Whether a reload changes it.
    let isLive: Bool
    /// Whether an object without it is refused.
    let isRequired: Bool
}

/// One member of an object in the configuration. Parser, schema, manual and documents are made from it.
struct ConfigurationMember<Target>: Sendable {
    typealias Read = @Sendable (ConfigurationValue, inout Target) throws(Configuration.Problem) -> Void

    let name: String
    private let makeKind: @Sendable () -> ConfigurationKind
    /// The default; nil if there is none.
    let standard: JSONValue?
    let help: String
    let isLive: Bool
    let isRequired: Bool
    /// Takes over a value that was found to be of the kind.
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
