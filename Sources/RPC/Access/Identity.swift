// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Tokens

/// Who makes a call: the client of a connection, or the bearer of a token. Immutable.
package final class Identity: Sendable {
    package let peer: Peer
    /// What the caller may do.
    package let right: AccessRight
    /// Nil if the caller is the peer itself.
    package let token: VerifiedToken?

    package init(_ peer: Peer, right: AccessRight, token: VerifiedToken? = nil) {
        (self.peer, self.right, self.token) = (peer, right, token)
    }

    /// The bearer of a token. Over a Unix socket it may do no more than the peer that passed it on.
    ///
    /// - Parameter most: the highest right of a token (`http.tokenRight`).
    package convenience init(
        _ token: VerifiedToken, through peer: Peer, right: AccessRight, most: AccessRight
    ) throws(RPCError) {
        var own = AccessRight.query
        if let claim = token.claims[Self.rightClaim] {
            guard case .string(let name) = claim, let right = AccessRight(name: name) else {
                throw RPCError(.unauthenticated, "The token's claim \(Self.rightClaim) is not the name of a right.")
            }
            own = right
        }
        self.init(peer, right: min(own, most, peer.hasUser ? right : .admin), token: token)
    }

    private static let rightClaim = "clusterd:right"

    /// Whether no rule concerns the caller: an administrator on this machine.
    var isUnrestricted: Bool { token == nil && peer.hasUser && right == .admin }

    /// A claim of the token, or what stands for it of a caller over a Unix socket; nil if there is none, or it is null.
    func claim(_ name: String) -> JSONValue? {
        if let token { return token.claims[name].flatMap { $0 == .null ? nil : $0 } }
        guard peer.hasUser else { return nil }
        return switch name {
        case "uid": .number(Double(peer.userID))
        case "user": AccountNames.name(ofUser: peer.userID).map { .string($0) }
        case "groups":
            .array(
                Set(peer.groups + [peer.groupID]).sorted().map {
                    .string(AccountNames.name(ofGroup: $0) ?? String($0))
                })
        default: nil
        }
    }

    /// The error for this caller, who lacks the right that a method needs.
    package func denial(of method: MethodDeclaration) -> RPCError {
        token == nil ? peer.denial(of: method) : Self.tokenDenial(of: method)
    }

    private static func tokenDenial(of method: MethodDeclaration) -> RPCError {
        RPCError(
            .permissionDenied,
            "\(method.shortName) needs the right \"\(method.right.name)\", which your token does not have. It is the claim \(rightClaim), as far as http.tokenRight allows.",
            details: ["right": .string(method.right.name)])
    }
}
