// SPDX-License-Identifier: MIT
import RPC
import SourceEngine
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
        ConfigurationMember(
            "rules", .list(.members(AccessRule.members.map(\.entry))), default: .array([]),
            "What callers see of sources. The first rule that matches caller and source applies; a source that any rule names does not exist for callers whom none matches. Administrators over a Unix socket see everything."
        ) { (value, target) throws(Configuration.Problem) in
            target.rules = try AccessRule.read(value)
        },
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
            "groups", .list(.account),
            "Groups, by name or number; a user's supplementary groups count too; \"*\" is everybody."
        ) { (value, target) throws(Configuration.Problem) in
            for item in value.items {
                if item.element.isString("*") {
                    target.everybody = true
                } else {
                    try item.insert("group", AccountNames.group, into: \.groups, of: &target)
                }
            }
        },
    ]
}

extension AccessRule {
    static let members: [ConfigurationMember<AccessRule>] =
        [
            ConfigurationMember(
                "sources", .list(.text), isRequired: true,
                "The names of sources, in which * stands for any characters. A rule covers their views."
            ) { value, target in target.sources = value.items.map(\.text) }
        ] + AccessPolicy.Rule.members.map { $0.within(\.callers) } + [
            ConfigurationMember(
                "tokens", .boolean, default: .bool(false), "Whether the rule matches callers with a token."
            ) { value, target in target.tokens = value.boolean },
            ConfigurationMember(
                "filter", .expression,
                "The features that these callers see, as an expression; by default all. [\"claim\", NAME] is a claim of the caller's token, or user, uid or groups of a caller over a Unix socket."
            ) { (value, target) throws(Configuration.Problem) in
                let filter = value.element.value
                if let problem = RuleFilter.problem(filter) { throw value.problem(problem) }
                target.filter = filter
            },
            ConfigurationMember(
                "minCount", .integer(minimum: 0), default: .number(0),
                "The fewest points of a cluster that these callers see, if it is above 1. Then they see no single feature."
            ) { value, target in target.minCount = value.integer },
        ]

    fileprivate static func read(_ value: ConfigurationValue) throws(Configuration.Problem) -> [AccessRule] {
        var rules: [AccessRule] = []
        try Configuration.Problem.gathered(value.items) { (item) throws(Configuration.Problem) in
            var rule = AccessRule()
            try item.read(by: members, into: &rule)
            guard rule.matchesSomebody else {
                throw item.problem("matches nobody: it needs users, groups or tokens")
            }
            guard !rule.sources.isEmpty else { throw item.problem("names no source") }
            if let wrong = rule.sources.first(where: { !AccessRule.isPattern($0) }) {
                throw item.problem(
                    "names \"\(wrong)\", which is no source: \(SourceName.pattern), in which * stands for any characters. A rule covers a source with its views"
                )
            }
            rules.append(rule)
        }
        return rules
    }

    /// Whether it says which callers it matches, even if the system does not know them.
    private var matchesSomebody: Bool {
        tokens || callers.everybody || !callers.users.isEmpty || !callers.groups.isEmpty
            || !callers.unknownNames.isEmpty
    }
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
