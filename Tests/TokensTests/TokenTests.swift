// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import Tokens

@Suite("Tokens") struct TokenTests {
    private static let secret = Array("a secret of more than thirty-two bytes".utf8)

    private static func encoded(_ text: [UInt8]) -> String {
        var writer = ByteWriter()
        Base64.append(text.span, to: &writer)
        return writer.string.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func token(
        _ claims: String, head: String = #"{"alg":"HS256"}"#, secret: [UInt8] = secret
    ) throws -> String {
        let message = "\(encoded(Array(head.utf8))).\(encoded(Array(claims.utf8)))"
        let code = try #require(Sodium.hmac(Array(message.utf8), key: secret))
        return "\(message).\(encoded(code))"
    }

    private static func verifier(issuer: String? = nil, audience: String? = nil) throws -> TokenVerifier {
        try #require(TokenVerifier([try TokenKey(.hs256, content: secret, issuer: issuer, audience: audience)]))
    }

    /// The problem of a token at the time 1000; nil if it is accepted.
    private func problem(_ token: String, _ verifier: TokenVerifier? = nil) throws -> String? {
        let verifier = try verifier ?? Self.verifier()
        do throws(TokenVerifier.Problem) { _ = try verifier.verify(Array(token.utf8), now: 1000) } catch {
            return error.description
        }
        return nil
    }

    @Test("the example of RFC 7515 is accepted until it expires") func example() throws {
        let key = Base64.decode(
            Array("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow".utf8).span)
        let token = """
            eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxl\
            LmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
            """
        let bytes = try #require(key)
        let verifier = try #require(TokenVerifier([try TokenKey(.hs256, content: bytes)]))
        let verified = try verifier.verify(Array(token.utf8), now: 1_300_819_380)
        #expect(verified.claims["iss"] == JSONValue.string("joe"))
        #expect(verified.expires == 1_300_819_410)
        #expect(throws: TokenVerifier.Problem.self) { try verifier.verify(Array(token.utf8), now: 1_300_819_410) }
    }

    private static let publicKey = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEAsxY+RyofbasjmnclFYKmYm2zlzBBdT7OaZK75QgQNnQ=
        -----END PUBLIC KEY-----

        """
    /// Signed by openssl.
    private static let signed = """
        eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbm5hIiwiZXhwIjo0MTAyNDQ0ODAwLCJ0ZW5hbnQiOiJhY21lIiwiY2x1c3Rlcm\
        Q6cmlnaHQiOiJtYW5hZ2UifQ.dp_x8E1mnI73ftWNz7OpIGJfsiCWC_xBUD7ejFpF4BZQA-M-N5c1hjsu8OW6gNk8sZhkjrxb2uAIDR9YE0wICA
        """

    @Test("a token of Ed25519 is verified by a public key in PEM") func edDSA() throws {
        let key = try TokenKey(.edDSA, content: Array(Self.publicKey.utf8))
        let verifier = try #require(TokenVerifier([key]))
        #expect(try verifier.verify(Array(Self.signed.utf8), now: 1000).subject == "anna")
        // A bit in each byte of the token; some of the last one's mean nothing.
        for index in 0..<Self.signed.utf8.count - 1 {
            var other = Array(Self.signed.utf8)
            other[index] ^= 4
            #expect(throws: TokenVerifier.Problem.self, "byte \(index)") { try verifier.verify(other, now: 1000) }
        }
    }

    @Test("a signature of another secret, and none, is refused") func signatures() throws {
        let claims = #"{"exp":2000}"#
        #expect(try problem(Self.token(claims)) == nil)
        #expect(try problem(Self.token(claims, secret: Self.secret + [1]))?.contains("signature") == true)
        let good = try Self.token(claims)
        #expect(try problem(String(good[..<good.lastIndex(of: ".")!]) + ".")?.contains("signature") == true)
        for head in [#"{"alg":"none"}"#, #"{"alg":"HS512"}"#, #"{"alg":"EdDSA"}"#, #"{"alg":"hs256"}"#, "{}"] {
            #expect(try problem(Self.token(claims, head: head))?.contains("algorithm") == true, "\(head)")
        }
        #expect(try problem(Self.token(claims, head: #"{"alg":"HS256","crit":["b64"],"b64":false}"#)) != nil)
    }

    @Test(
        "what is no JWT is refused",
        arguments: ["", ".", "..", "a.b", "a.b.c.d", "e30.e30.", "\u{e4}.b.c", "e30=.e30=.AA"])
    func noTokens(_ text: String) throws { #expect(try problem(text) != nil) }

    @Test(
        "times have half a minute of leeway, and expiry is required",
        arguments: [
            (#"{"exp":971}"#, true), (#"{"exp":970}"#, false), ("{}", false), (#"{"exp":"2000"}"#, false),
            (#"{"exp":2000,"nbf":1030}"#, true), (#"{"exp":2000,"nbf":1031}"#, false),
            (#"{"exp":2000,"nbf":null}"#, false), (#"{"exp":1e300}"#, true), (#"{"exp":970.5}"#, true),
        ])
    func times(_ claims: String, isAccepted: Bool) throws {
        #expect(try (problem(Self.token(claims)) == nil) == isAccepted)
    }

    @Test(
        "issuer and audience are those of the key",
        arguments: [
            (#""iss":"a","aud":"x""#, "a", "x", true), (#""iss":"b","aud":"x""#, "a", "x", false),
            (#""iss":"a","aud":["y","x"]"#, "a", "x", true), (#""iss":"a","aud":["y"]"#, "a", "x", false),
            (#""iss":"a""#, "a", "x", false), (#""aud":"x""#, "a", "x", false), (#""iss":"b""#, nil, nil, true),
            // The daemon is none of those for whom the token is meant.
            (#""aud":"x""#, nil, nil, false), (#""aud":7"#, nil, "x", false),
        ] as [(String, String?, String?, Bool)])
    func audience(_ claims: String, issuer: String?, audience: String?, isAccepted: Bool) throws {
        let verifier = try Self.verifier(issuer: issuer, audience: audience)
        #expect(try (problem(Self.token("{\"exp\":2000,\(claims)}"), verifier) == nil) == isAccepted)
    }

    @Test("a token is accepted as long as its key is known") func rotation() throws {
        let (old, new) = (try TokenKey(.hs256, content: Self.secret), try TokenKey(.hs256, content: [1, 2, 3]))
        let both = try #require(TokenVerifier([new, old]))
        let verified = try both.verify(Array(Self.token(#"{"exp":2000}"#).utf8), now: 1000)
        #expect(both.accepts(verified))
        #expect(TokenVerifier([new])?.accepts(verified) == false)
        #expect(TokenVerifier([]) == nil)
        #expect(new.isShort)
        #expect(!old.isShort)
    }

    @Test(
        "files that are no keys are refused",
        arguments: [
            (TokenKey.Algorithm.hs256, ""), (.hs256, publicKey), (.edDSA, "secret"),
            (.edDSA, "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAsxY+\n-----END PUBLIC KEY-----\n"),
            (.edDSA, "-----BEGIN PUBLIC KEY-----\n"),
        ])
    func badKeys(_ algorithm: TokenKey.Algorithm, _ content: String) {
        #expect(throws: TokenKey.Problem.self) { try TokenKey(algorithm, content: Array(content.utf8)) }
    }

    @Test("no problem shows anything of the token") func secrecy() throws {
        for claims in [#"{"exp":1,"sub":"anna"}"#, #"{"exp":2000,"aud":"anna"}"#, "anna"] {
            let token = try Self.token(claims)
            let text = try #require(try problem(token))
            #expect(!text.contains("anna"))
            #expect(!text.contains(token.prefix(10)))
        }
    }
}
