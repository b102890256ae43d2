// SPDX-License-Identifier: MIT
import JSON

/// One member of an object in the configuration. Parser, schema, manual, documentation and reloads derive
/// from it.
struct ConfigurationMember<Target>: Sendable {
    typealias Read = @Sendable (ConfigurationValue, inout Target) throws(Configuration.Problem) -> Void

    let name: String
    private let makeKind: @Sendable () -> ConfigurationKind
    /// The default; nil if there is none.
    let standard: JSONValue?
    let help: String
    let isRequired: Bool
    /// The values that only a restart changes: the member's own, or of its members, with names such as
    /// `http.listen`.
    let fixed: [(name: String, place: FixedPlace<Target>)]
    /// Whether a reload changes the member's own value.
    let isLive: Bool
    /// Applies a value that has been found to be of the kind.
    let read: Read

    /// - Parameter fixed: where the value is, if only a restart changes it; nil if a reload does.
    init(
        _ name: String, _ kind: @autoclosure @escaping @Sendable () -> ConfigurationKind,
        default standard: JSONValue? = nil, fixed: FixedPlace<Target>? = nil, isRequired: Bool = false,
        _ help: String, read: @escaping Read
    ) {
        self.name = name
        self.standard = standard
        makeKind = kind
        self.help = help
        self.isRequired = isRequired
        self.fixed = fixed.map { [(name, $0)] } ?? []
        isLive = fixed == nil
        self.read = read
    }

    /// An object with its own members, which are read into a part of the target.
    init<Part>(
        _ name: String, _ members: [ConfigurationMember<Part>],
        at place: WritableKeyPath<Target, Part> & Sendable, _ help: String
    ) {
        self.name = name
        standard = nil
        makeKind = { .members(members.map(\.entry)) }
        self.help = help
        isRequired = false
        fixed = members.flatMap(\.fixed).map { ("\(name).\($0.name)", $0.place.within(place)) }
        isLive = true
        read = { (value, target) throws(Configuration.Problem) in
            try value.read(by: members, into: &target[keyPath: place])
        }
    }

    var kind: ConfigurationKind { makeKind() }
    var entry: ConfigurationEntry {
        ConfigurationEntry(
            name: name, kind: kind, standard: standard, help: help, isLive: isLive, isRequired: isRequired)
    }
}
