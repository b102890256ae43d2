// SPDX-License-Identifier: MIT
import RPC
import JSON

extension AccessPolicy {
    static let members: [ConfigurationMember<AccessPolicy>] = [
        ConfigurationMember(
            "query", .members(Rule.members.map(\.entry)),
            "Who may query sources. By default everybody."
        ) { (value, target) throws(Configuration.Problem) in target.query = try Rule.read(value) },
        ConfigurationMember(
            "manage", .members(Rule.members.map(\.entry)),
            "Who may query, and create, fill, change and delete sources that the configuration does not declare. By default nobody else."
        ) { (value, target) throws(Configuration.Problem) in target.manage = try Rule.read(value) },
        ConfigurationMember(
            "admin", .members(Rule.members.map(\.entry)),
            "Who may do everything, without the limits per user. By default nobody else."
        ) { (value, target) throws(Configuration.Problem) in target.admin = try Rule.read(value) },
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
                } else if let user = try item.identifier("user", { AccountNames.user($0) }) {
                    target.users.insert(user)
                } else {
                    target.unknownNames.append("\(item.path): there is no user \"\(item.text)\"")
                }
            }
        },
        ConfigurationMember(
            "groups", .list(.account), "Groups, by name or number; a user's supplementary groups count too."
        ) { (value, target) throws(Configuration.Problem) in
            for item in value.items {
                if let group = try item.identifier("group", { AccountNames.group($0) }) {
                    target.groups.insert(group)
                } else {
                    target.unknownNames.append("\(item.path): there is no group \"\(item.text)\"")
                }
            }
        },
    ]

    fileprivate static func read(
        _ value: ConfigurationValue
    ) throws(Configuration.Problem) -> AccessPolicy.Rule {
        var rule = AccessPolicy.Rule()
        try value.read(by: members, into: &rule)
        return rule
    }
}

extension ConfigurationValue {
    /// The number of a user or group that is given by name or number; nil if the system does not know the
    /// name.
    fileprivate func identifier(
        _ kind: String, _ find: (String) -> UInt32?
    ) throws(Configuration.Problem) -> UInt32? {
        if let number = element.integer {
            guard let identifier = UInt32(exactly: number), identifier != .max else {
                throw problem("is not a number of a \(kind)")
            }
            return identifier
        }
        return find(text)
    }
}
