// SPDX-License-Identifier: MIT
import RPC
import JSON

extension AccessPolicy {
    static let members: [ConfigurationMember<AccessPolicy>] = [
        ConfigurationMember(
            "query", Rule.members, at: \.query, replacedBy: Rule(), "Who may query sources. By default everybody."),
        ConfigurationMember(
            "manage", Rule.members, at: \.manage, replacedBy: Rule(),
            "Who may query, and create, fill, change and delete sources that the configuration does not declare. By default nobody else."
        ),
        ConfigurationMember(
            "admin", Rule.members, at: \.admin, replacedBy: Rule(),
            "Who may do everything, without the limits per user. By default nobody else."),
    ]
}

extension AccessPolicy.Rule {
    static let members: [ConfigurationMember<AccessPolicy.Rule>] = [
        ConfigurationMember(
            "users", .list(.account), "Users, by name or number; \"*\" is everybody who can open the socket."
        ) { (value, target) throws(Configuration.Problem) in
            for item in value.items {
                if item.element.isString("*") {
                    target.everybody = true
                } else {
                    try item.insert("user", AccountNames.user, into: \.users, of: &target)
                }
            }
        },
        ConfigurationMember(
            "groups", .list(.account), "Groups, by name or number; a user's supplementary groups count too."
        ) { (value, target) throws(Configuration.Problem) in
            for item in value.items {
                try item.insert("group", AccountNames.group, into: \.groups, of: &target)
            }
        },
    ]
}

extension ConfigurationValue {
    /// Adds the number of a user or group that is given by name or number, or notes that the system does not
    /// know the name.
    fileprivate func insert(
        _ kind: String, _ find: (String) -> UInt32?,
        into numbers: WritableKeyPath<AccessPolicy.Rule, Set<UInt32>>, of rule: inout AccessPolicy.Rule
    ) throws(Configuration.Problem) {
        if let number = element.integer {
            guard let identifier = UInt32(exactly: number), identifier != .max else {
                throw problem("is not a number of a \(kind)")
            }
            rule[keyPath: numbers].insert(identifier)
        } else if let identifier = find(text) {
            rule[keyPath: numbers].insert(identifier)
        } else {
            rule.unknownNames.append("\(path): there is no \(kind) \"\(text)\"")
        }
    }
}
