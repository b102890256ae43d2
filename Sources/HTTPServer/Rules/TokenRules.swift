// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import RPC
import Tokens

/// Who makes a request, by the token that it carries.
extension HTTPRules {
    /// - Parameters:
    ///   - authorization: the field of that name; the values of several lines joined, which are no token.
    ///   - query: the tokens in the URL's query.
    ///   - caller: the connection's client.
    /// - Throws: `unauthenticated`, with nothing of the token.
    package func identity(
        authorization: String?, query: [String] = [], _ caller: Identity
    ) throws(RPCError) -> Identity {
        guard let tokens else { return caller }
        guard query.count <= 1 else { throw Self.unauthenticated("access_token is given twice.") }
        guard let text = try authorization.flatMap(Self.bearer) ?? query.first else {
            // The kernel says who is at the other end of a Unix socket.
            guard caller.peer.address != nil else { return caller }
            throw Self.unauthenticated("A token is needed: Authorization: Bearer TOKEN.")
        }
        let token: VerifiedToken
        do throws(TokenVerifier.Problem) {
            token = try tokens.verify(Array(text.utf8), now: WallClock.now())
        } catch { throw Self.unauthenticated(error.description) }
        return try identity(token, caller)
    }

    private func identity(_ token: VerifiedToken, _ caller: Identity) throws(RPCError) -> Identity {
        try Identity(token, through: caller.peer, right: caller.right, most: settings.tokenRight)
    }

    /// Who makes a call that is open already, by the current rules.
    package func renewed(_ known: Identity, on connection: Identity) throws(RPCError) -> Identity {
        guard let tokens else { return connection }
        guard let token = known.token else {
            guard known.peer.address == nil else { throw Self.unauthenticated("A token is needed now.") }
            return connection
        }
        guard tokens.accepts(token) else { throw Self.unauthenticated("The token's key is not known any more.") }
        guard WallClock.now() < token.expires else { throw Self.unauthenticated("The token has expired.") }
        return try identity(token, connection)
    }

    /// The token of a field; nil if it is a login of another kind. A field that lost its token must not be taken for
    /// none, with which callers over a Unix socket may do more.
    private static func bearer(_ field: String) throws(RPCError) -> String? {
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.first?.lowercased() == "bearer" else { return nil }
        guard parts.count == 2 else { throw unauthenticated("Authorization has no token after Bearer.") }
        return parts[1].trimmingSpaces
    }

    private static func unauthenticated(_ message: String) -> RPCError { RPCError(.unauthenticated, message) }
}
