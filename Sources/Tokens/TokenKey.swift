// SPDX-License-Identifier: MIT
import JSON

/// A key that verifies tokens, and what these must say.
public struct TokenKey: Sendable, Equatable {
    public enum Algorithm: String, Sendable, CaseIterable {
        /// HMAC with SHA-256.
        case hs256 = "HS256"
        /// Ed25519.
        case edDSA = "EdDSA"
    }

    public let algorithm: Algorithm
    /// The secret, or the 32 bytes of the public key.
    let bytes: [UInt8]
    /// What `iss` must be; nil: anything.
    public let issuer: String?
    /// What `aud` must contain; nil: tokens without `aud` only (RFC 7519, section 4.1.3).
    public let audience: String?

    /// Why a file's content is no key, in words for a person.
    public struct Problem: Error, Sendable, CustomStringConvertible { public let description: String }

    /// - Parameter content: the secret's bytes, all of them; or a public key in PEM.
    public init(
        _ algorithm: Algorithm, content: [UInt8], issuer: String? = nil, audience: String? = nil
    ) throws(Problem) {
        (self.algorithm, self.issuer, self.audience) = (algorithm, issuer, audience)
        let text = String(decoding: content, as: UTF8.self)
        switch algorithm {
        case .hs256:
            guard !content.isEmpty else { throw Problem(description: "has an empty file, which is no secret") }
            // Whoever has the public key, which is no secret, could make tokens.
            guard !text.contains("-----BEGIN ") else {
                throw Problem(description: "has a file in PEM, but HS256 needs a secret; EdDSA takes public keys")
            }
            bytes = content
        case .edDSA: bytes = try Self.publicKey(text)
        }
    }

    /// Whether a secret is shorter than its algorithm's hash, so that it may be guessed (RFC 7518, section 3.2).
    public var isShort: Bool { algorithm == .hs256 && bytes.count < 32 }

    /// The key in a SubjectPublicKeyInfo (RFC 8410).
    private static func publicKey(_ text: String) throws(Problem) -> [UInt8] {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
        guard let start = lines.firstIndex(of: "-----BEGINPUBLICKEY-----"),
            let end = lines[start...].firstIndex(of: "-----ENDPUBLICKEY-----")
        else {
            throw Problem(description: "has a file without a public key in PEM, which openssl pkey -pubout writes")
        }
        let body = Array(lines[start + 1..<end].joined().utf8)
        guard let der = Base64.decode(body.span), der.count == prefix.count + 32, der.starts(with: prefix) else {
            throw Problem(description: "has a file whose public key is not of the kind Ed25519")
        }
        return Array(der.dropFirst(prefix.count))
    }

    /// A sequence of the algorithm 1.3.101.112 and a string of 32 bytes.
    private static let prefix: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]

    func isSignature(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        switch algorithm {
        case .hs256: Sodium.hmac(message, key: bytes).map { Sodium.areEqual($0, signature) } ?? false
        case .edDSA: Sodium.isSignature(signature, of: message, key: bytes)
        }
    }
}
