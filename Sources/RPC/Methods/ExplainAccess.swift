// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Responses
import SourceEngine
import Tokens

/// `ExplainAccess`: says what the bearer of a token sees of a source, and which rule says so.
struct ExplainAccess: UnaryMethod {
    let declaration = MethodDeclaration.explainAccess
    let catalog: SourceCatalog

    var needsNoData: Bool { true }

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let reference = try catalog.reference(params)
        let token = try params.string(.token)
        guard call.caller.isUnrestricted else { throw Self.notHere }
        let source = try? catalog.source(params)
        return PreparedAnswer(isQuick: false) { [settings = catalog.settings] (call, bytes) throws(RPCError) in
            var part: SeenPart?
            var answer = Self.explanation(of: reference.source, token, settings.values.access, &part)
            if answer["isSeen"] == .bool(true) { Self.count(part, of: source, reference, call, &answer) }
            bytes.append(.object(answer))
        }
    }

    /// Adds how many of the source's points are seen, as far as that can be found out.
    private static func count(
        _ part: SeenPart?, of source: Source?, _ name: SourceReference, _ call: CallContext, _ answer: inout JSONObject
    ) {
        guard let source else {
            if case .string(let why)? = answer["why"] { answer["why"] = .string(why + " There is no such source now.") }
            return
        }
        try? answering(call) { () throws(SourceError) in
            let revision = try source.intactRevision().read(by: name)
            let all = revision.pointCount
            let seen = try part.map { (part) throws(SourceError) in
                try revision.part(seenBy: part.seen, call.cancellation).points
            }
            answer["points"] = .number(Double(seen ?? all))
            answer["ofPoints"] = .number(Double(all))
        }
    }

    private static let notHere = RPCError(
        .permissionDenied, "Rules are explained to administrators over the Unix socket only.")

    /// - Parameters:
    ///   - text: of a token.
    ///   - seen: set to the part that is seen, if that is not all.
    private static func explanation(
        of name: SourceName, _ text: String, _ access: LiveSettings.Access, _ seenPart: inout SeenPart?
    ) -> JSONObject {
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
            seenPart = part
            answer["filter"] = part?.filter
            if let part, part.hidesPoints { answer["minCount"] = .number(Double(part.minCount)) }
        } catch {
            // The error speaks to the caller.
            return end(
                isSeen: false,
                error.message.replacing("you may see", with: "is seen").replacing("you do", with: "the token does"))
        }
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
