// SPDX-License-Identifier: MIT
import JSON
import SourceEngine

/// What some callers see of some sources: a member of `access.rules`.
public struct AccessRule: Sendable, Equatable {
    /// Names of sources, in which `*` stands for any characters.
    public var sources: [String] = []
    /// Users and groups of callers over Unix sockets; everybody may be anybody.
    public var callers = AccessPolicy.Rule()
    /// Whether it concerns callers with a token.
    public var tokens = false
    /// The features that these callers see; nil: all. `["claim", name]` stands for a claim of the caller.
    public var filter: JSONValue?
    /// The fewest points of a cluster that these callers see.
    public var minCount = 0

    public init() {}

    /// Whether a text of `sources` can name a source. Views have no rules of their own.
    public static func isPattern(_ text: String) -> Bool {
        ["", "a"].contains { SourceName(text.replacing("*", with: $0)) != nil }
    }

    func covers(_ name: SourceName) -> Bool {
        sources.contains { Self.matches($0.utf8[...], name.text.utf8[...]) }
    }

    func admits(_ caller: Identity) -> Bool {
        if callers.everybody { return true }
        return caller.token == nil ? callers.admits(caller.peer) : tokens
    }

    /// O(pattern × text), both of which are short.
    private static func matches(_ pattern: Substring.UTF8View, _ text: Substring.UTF8View) -> Bool {
        var (pattern, text) = (pattern, text)
        while let next = pattern.first {
            if next == UInt8(ascii: "*") {
                pattern = pattern.drop { $0 == UInt8(ascii: "*") }
                if pattern.isEmpty { return true }
                while true {
                    if matches(pattern, text) { return true }
                    if text.popFirst() == nil { return false }
                }
            }
            guard text.popFirst() == next else { return false }
            pattern.removeFirst()
        }
        return text.isEmpty
    }
}

/// The filter of a rule, in which `["claim", name]` stands for a value.
public enum RuleFilter {
    /// What is wrong with a rule's filter, in words for a person; nil if nothing is.
    public static func problem(_ filter: JSONValue) -> String? {
        var names: Set<String> = []
        let isWellFormed =
            (try? replaced(filter) { name in
                names.insert(name)
                return .number(0)
            }) != nil
        guard isWellFormed else { return "has a claim that is not [\"claim\", NAME]" }
        if QueryFilter(filter).mentionsZoom { return "depends on the zoom, which a rule cannot" }
        if let advice = QueryFilter.warnings(about: withoutClaims(filter)).first { return advice }
        var first: String?
        // The types of claims are not known yet.
        for example in examples {
            let tried = (try? replaced(filter) { _ in example }) ?? filter
            guard let problem = QueryFilter.problem(tried) else { return nil }
            first = first ?? problem
        }
        return first
    }

    /// The filter with what stands for claims where advice is sought about comparisons of constants. A comparison of a
    /// claim with a constant, in this order, is meant: `["==", ["claim", "role"], "auditor"]`.
    private static func withoutClaims(_ filter: JSONValue) -> JSONValue {
        guard case .array(let items) = filter, items.first != .string("literal") else { return filter }
        return .array(
            items.enumerated().map { index, item in
                guard case .array(let inner) = item, inner.first == .string("claim") else { return withoutClaims(item) }
                return index == 1 || items.first == .string("in") ? item : .string("x")
            })
    }

    private static let examples: [JSONValue] = [
        .string("x"), .number(1), .array([.string("literal"), .array([.string("x")])]),
        .array([.string("literal"), .array([.number(1)])]), .bool(true), .array([.string("get"), .string("x")]),
    ]

    /// Why a claim cannot be used.
    struct UnusableClaim: Error {
        let name: String
        /// In words that follow its name.
        var problem = "which you do not have"
    }

    /// Integers up to this one are exact as numbers of expressions. Larger ones may be those of another tenant.
    private static let mostExact = 9_007_199_254_740_991.0

    private static func isExact(_ value: JSONValue) -> Bool {
        switch value {
        case .number(let number): abs(number) <= mostExact
        case .array(let items): items.allSatisfy(isExact)
        case .object(let object): object.members.allSatisfy { isExact($0.value) }
        default: true
        }
    }

    /// The filter for a caller.
    static func bound(_ filter: JSONValue, to caller: Identity) throws(UnusableClaim) -> JSONValue {
        try replaced(filter) { (name) throws(UnusableClaim) in
            guard let value = caller.claim(name) else { throw UnusableClaim(name: name) }
            guard isExact(value) else {
                throw UnusableClaim(
                    name: name, problem: "which has a number above 2^53; tokens need such ids as strings")
            }
            return switch value {
            case .array, .object: .array([.string("literal"), value])
            default: value
            }
        }
    }

    /// Replaces claims, except in literals. Throws for a claim without a name.
    private static func replaced(
        _ value: JSONValue, _ claim: (String) throws(UnusableClaim) -> JSONValue
    ) throws(UnusableClaim) -> JSONValue {
        guard case .array(let items) = value else { return value }
        switch items.first {
        case .string("literal")?: return value
        case .string("claim")?:
            guard items.count == 2, case .string(let name) = items[1] else { throw UnusableClaim(name: "") }
            return try claim(name)
        default:
            var replaced: [JSONValue] = []
            for item in items { replaced.append(try Self.replaced(item, claim)) }
            return .array(replaced)
        }
    }
}
