// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import SourceEngine
import Tokens

/// `ExplainAccess`: says what the bearer of a token sees of a source, and which rule says so.
struct ExplainAccess: UnaryMethod {
    let declaration = MethodDeclaration.explainAccess
    let settings: LiveSettings

    var needsNoData: Bool { true }

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        guard let name = SourceReference(try params.string(.source))?.source else {
            throw params.invalid(.source, "must be a name: \(SourceName.pattern).")
        }
        let token = try params.string(.token)
        guard call.caller.isUnrestricted else { throw Self.notHere }
        return PreparedAnswer(isQuick: true) { [settings] (_, bytes) throws(RPCError) in
            bytes.append(.object(Self.explanation(of: name, token, settings.values.access)))
        }
    }

    private static let notHere = RPCError(
        .permissionDenied, "Rules are explained to administrators over the Unix socket only.")

    /// - Parameter text: of a token.
    private static func explanation(of name: SourceName, _ text: String, _ access: LiveSettings.Access) -> JSONObject {
        var answer: JSONObject = ["source": .string(name.text)]
        func end(isSeen: Bool, _ why: String) -> JSONObject {
            answer["isSeen"] = .bool(isSeen)
            answer["why"] = .string(why)
            return answer
        }
        guard let tokens = access.tokens else {
            return end(isSeen: false, "The configuration has no http.tokens, so no token is accepted.")
        }
        let caller: Identity
        do throws(RPCError) {
            caller = try bearer(of: text, tokens, most: access.tokenRight)
        } catch { return end(isSeen: false, error.message) }
        answer["subject"] = caller.token?.subject.map { .string($0) }
        answer["right"] = .string(caller.right.name)
        let covering = access.policy.rules.enumerated().filter { $0.element.covers(name) }
        answer["rules"] = .array(
            covering.map { index, rule in
                ["rule": .string("access.rules[\(index)]"), "matches": .bool(rule.admits(caller))]
            })
        guard !covering.isEmpty, let seen = access.policy.access(of: caller) else {
            return end(isSeen: true, "No rule names the source, so all of it is seen.")
        }
        guard let index = seen.rule(on: name) else {
            return end(
                isSeen: false,
                "Rules name the source, but none matches this caller, for whom the source does not exist.")
        }
        answer["rule"] = .string("access.rules[\(index)]")
        do throws(RPCError) {
            let part = try seen.seenPart(on: name)
            answer["filter"] = part?.filter
            if let part, part.hidesPoints { answer["minCount"] = .number(Double(part.minCount)) }
        } catch { return end(isSeen: false, error.message) }
        return end(
            isSeen: true, "access.rules[\(index)] is the first rule that names the source and matches the caller.")
    }

    private static func bearer(
        of text: String, _ tokens: TokenVerifier, most: AccessRight
    ) throws(RPCError) -> Identity {
        let token: VerifiedToken
        do throws(TokenVerifier.Problem) {
            token = try tokens.verify(Array(text.utf8), now: WallClock.now())
        } catch { throw RPCError(.unauthenticated, error.description) }
        return try Identity(token, through: .remote("", rightMember: "http.right"), right: .none, most: most)
    }
}
