// SPDX-License-Identifier: MIT
import JSON

/// Verifies signed tokens: JWT in their compact form (RFC 7519, RFC 7515).
public struct TokenVerifier: Sendable, Equatable {
    private let keys: [TokenKey]

    /// How far clocks may differ, in seconds.
    public static let leeway = 30.0

    /// Why a token is not accepted, in words for a person. It has nothing of the token.
    public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
        public let description: String
        init(_ description: String) { self.description = description }
    }

    /// Nil without keys, when nobody needs a token.
    public init?(_ keys: [TokenKey]) {
        guard !keys.isEmpty else { return nil }
        self.keys = keys
    }

    /// - Parameter now: seconds since 1970.
    /// - Complexity: O(keys × the token's length).
    public func verify(_ token: [UInt8], now: Double) throws(Problem) -> VerifiedToken {
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Self.object(parts[0]), let signature = Self.bytes(parts[2]) else {
            throw Problem("The token is no JWT.")
        }
        guard head["crit"] == nil else { throw Problem("The token has critical parameters, which are not supported.") }
        guard case .string(let name)? = head["alg"], let algorithm = TokenKey.Algorithm(rawValue: name),
            keys.contains(where: { $0.algorithm == algorithm })
        else { throw Problem("The token's algorithm is not accepted.") }
        let message = Array(token[..<(parts[2].startIndex - 1)])
        let known = keys.filter { $0.algorithm == algorithm && $0.isSignature(signature, of: message) }
        guard !known.isEmpty else { throw Problem("The token's signature is not that of a known key.") }
        guard let claims = Self.object(parts[1]) else { throw Problem("The token's claims are no JSON object.") }
        guard case .number(let expires)? = claims["exp"] else { throw Problem("The token has no time of expiry.") }
        guard now < expires + Self.leeway else { throw Problem("The token has expired.") }
        switch claims["nbf"] {
        case nil: break
        case .number(let begins)? where now >= begins - Self.leeway: break
        case .number?: throw Problem("The token is not valid yet.")
        case _?: throw Problem("The token's time of begin is no number.")
        }
        let issued = known.filter { $0.issuer == nil || claims["iss"] == $0.issuer.map(JSONValue.string) }
        guard !issued.isEmpty else { throw Problem("The token is of another issuer.") }
        guard let key = issued.first(where: { Self.isMeant(claims["aud"], for: $0.audience) }) else {
            throw Problem("The token is for another audience.")
        }
        return VerifiedToken(claims: claims, expires: expires + Self.leeway, key: key)
    }

    /// Whether a token that was verified would still be, but for its time.
    public func accepts(_ token: VerifiedToken) -> Bool { keys.contains(token.key) }

    /// Whether an audience is among those that a token names.
    private static func isMeant(_ claim: JSONValue?, for audience: String?) -> Bool {
        switch claim {
        case nil: audience == nil
        case .string(let name)?: name == audience
        case .array(let names)?: audience.map { names.contains(.string($0)) } ?? false
        case _?: false
        }
    }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONObject? {
        guard let text = bytes(part), case .object(let object)? = try? JSONReader.parse(text) else { return nil }
        return object
    }

    /// Base64 in the alphabet for URLs, without padding (RFC 7515, section 2).
    private static func bytes(_ part: ArraySlice<UInt8>) -> [UInt8]? {
        let isOfAlphabet = part.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
        return isOfAlphabet ? Base64.decode(Array(part).span) : nil
    }
}

/// A token whose signature and times are right.
public struct VerifiedToken: Sendable, Equatable {
    public let claims: JSONObject
    /// Until when it is accepted, in seconds since 1970, with the leeway.
    public let expires: Double
    let key: TokenKey

    /// Whom the token is about, for the audit log.
    public var subject: String? { if case .string(let name)? = claims["sub"] { name } else { nil } }
}
