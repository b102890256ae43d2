// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import RPC
@testable import SourceEngine
@testable import Tokens

@Suite("Access rules of sources") struct AccessRuleTests {
    private static let anna = Identity(Peer(processID: 1, userID: 1000, groupID: 100, groups: [7]), right: .query)
    private static let stranger = Identity(.remote("192.0.2.1", rightMember: "http.right"), right: .admin)
    private static let root = Identity(Peer(processID: 1, userID: 0, groupID: 0), right: .admin)

    private func rule(_ sources: String..., users: Set<UInt32> = [], everybody: Bool = false) -> AccessRule {
        var rule = AccessRule()
        rule.sources = sources
        rule.callers = AccessPolicy.Rule(everybody: everybody, users: users)
        return rule
    }

    @Test(
        "a star stands for any characters",
        arguments: [
            ("orders", "orders", true), ("orders*", "orders-eu", true), ("orders*", "orders", true),
            ("orders*", "order", false), ("*", "x", true), ("*-eu", "orders-eu", true), ("*-eu", "orders-eu-2", false),
            ("a*b*c", "a1b2c", true), ("a*b*c", "acb", false), ("orders", "orders-eu", false), ("**", "x", true),
            ("Orders", "orders", false),
        ])
    func patterns(_ pattern: String, _ name: String, _ isCovered: Bool) throws {
        #expect(rule(pattern).covers(try #require(SourceName(name))) == isCovered)
    }

    @Test("the first rule that matches caller and source applies, and others hide the source") func order() throws {
        let rules = [rule("a*", users: [1000]), rule("ab", everybody: true), rule("c", users: [7])]
        let (ab, c, d) = (try #require(SourceName("ab")), try #require(SourceName("c")), try #require(SourceName("d")))
        let access = try #require(SourceAccess(rules, of: Self.anna))
        #expect(access.rule(on: ab) == 0)
        #expect(!access.sees(c))
        #expect(access.sees(d))
        #expect(try access.seenPart(on: d) == nil)
        let other = try #require(SourceAccess(rules, of: Self.stranger))
        #expect(other.rule(on: ab) == 1)
        #expect(!other.sees(try #require(SourceName("a"))))
        #expect(SourceAccess(rules, of: Self.root) == nil)
        #expect(SourceAccess([], of: Self.anna) == nil)
    }

    @Test("claims become literals, and a missing one denies") func claims() throws {
        let filter: JSONValue = [
            "all", ["==", ["get", "t"], ["claim", "uid"]], ["in", ["get", "g"], ["claim", "groups"]],
        ]
        let bound = try RuleFilter.bound(filter, to: Self.anna)
        guard case .array(let parts) = bound else { throw RuleFilter.UnusableClaim(name: "") }
        #expect(parts[1] == ["==", ["get", "t"], 1000])
        guard case .array(let list) = parts[2], case .array(let literal) = list[2] else {
            throw RuleFilter.UnusableClaim(name: "")
        }
        #expect(literal[0] == "literal")
        let untouched: JSONValue = ["literal", ["claim", "uid"]]
        #expect(try RuleFilter.bound(untouched, to: Self.stranger) == untouched)
        #expect(throws: RuleFilter.UnusableClaim.self) { try RuleFilter.bound(filter, to: Self.stranger) }
    }

    @Test(
        "a number that is not exact is no claim: another tenant may have the next one",
        arguments: [
            ("9007199254740991", true), ("9007199254740993", false), ("-9007199254740993", false), ("0.5", true),
            ("1e300", false), (#"["a",{"b":9007199254740993}]"#, false), (#""9007199254740993""#, true),
        ])
    func exactness(claim: String, isExact: Bool) throws {
        let key = try TokenKey(.hs256, content: Array("a secret of 32 or more bytes, for tests".utf8))
        let claims: JSONObject = ["tenant": try JSONReader.parse(claim)]
        let token = VerifiedToken(claims: claims, expires: .infinity, key: key)
        let caller = Identity(Self.anna.peer, right: .query, token: token)
        let filter: JSONValue = ["==", ["get", "t"], ["claim", "tenant"]]
        let bound = try? RuleFilter.bound(filter, to: caller)
        #expect((bound != nil) == isExact)
    }

    @Test(
        "a rule names sources, not views",
        arguments: [
            ("orders", true), ("orders*", true), ("*", true), ("*-eu", true), ("a*b", true), ("orders:food", false),
            ("", false), ("a b*", false), ("orders/*", false), (String(repeating: "a", count: 64) + "*", true),
        ])
    func names(_ text: String, isPattern: Bool) { #expect(AccessRule.isPattern(text) == isPattern) }

    @Test(
        "a rule's filter is checked before claims are known",
        arguments: [
            (#"["==",["get","t"],["claim","t"]]"#, true), (#"["in",["get","t"],["claim","t"]]"#, true),
            (#"[">",["get","n"],["claim","n"]]"#, true), (#"["==",["number",["get","n"]],["claim","n"]]"#, true),
            ("true", true), (#"["=="]"#, false), (#"["claim"]"#, false), (#"["claim",7]"#, false),
            (#"["nonsense",["claim","t"]]"#, false), (#"[">=",["zoom"],3]"#, false),
            // MapLibre's older form, which compares constants: it would show everything or nothing.
            (#"["==","tenant","acme"]"#, false), (#"["==","tenant",["claim","tenant"]]"#, false),
            // What callers are may decide, too.
            (#"["any",["==",["claim","role"],"auditor"],["==",["get","t"],["claim","t"]]]"#, true),
            (#"["in","auditor",["claim","roles"]]"#, true),
        ])
    func check(_ filter: String, isGood: Bool) throws {
        let problem = RuleFilter.problem(try JSONReader.parse(filter))
        #expect((problem == nil) == isGood, "\(problem ?? "")")
    }
}
