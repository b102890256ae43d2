// SPDX-License-Identifier: MIT
import Glibc
import JSON
import Tokens

/// A key of tokens as the configuration names it.
struct TokenKeyFile {
    var algorithm = TokenKey.Algorithm.hs256
    var path = ""
    var issuer: String?
    var audience: String?

    static let members: [ConfigurationMember<TokenKeyFile>] = [
        ConfigurationMember(
            "algorithm", .oneOf(TokenKey.Algorithm.allCases.map(\.rawValue)), isRequired: true,
            "How tokens are signed: \"HS256\" with a secret, or \"EdDSA\" with a key of Ed25519."
        ) { value, target in target.algorithm = TokenKey.Algorithm(rawValue: value.text) ?? target.algorithm },
        ConfigurationMember(
            "keyFile", .text, isRequired: true,
            "The file with the secret, all of its bytes, or with the public key in PEM. A name without a slash is that of a credential of the service manager (LoadCredential=). A reload reads it again."
        ) { value, target in target.path = value.text },
        ConfigurationMember("issuer", .text, "What a token's iss must be; by default anything.") {
            value, target in target.issuer = value.text
        },
        ConfigurationMember(
            "audience", .text, "What a token's aud must contain; by default only tokens without aud are accepted."
        ) { value, target in target.audience = value.text },
    ]

    /// Reads keys with their files.
    static func read(_ value: ConfigurationValue) throws(Configuration.Problem) -> [TokenKey] {
        var keys: [TokenKey] = []
        try Configuration.Problem.gathered(value.items) { (item) throws(Configuration.Problem) in
            var file = TokenKeyFile()
            try item.read(by: members, into: &file)
            let content: [UInt8]
            do throws(Configuration.Problem) {
                content = try Configuration.content(of: file.location, most: mostBytes)
            } catch { throw item.problem("has an unreadable keyFile: \(error.description)") }
            do throws(TokenKey.Problem) {
                keys.append(
                    try TokenKey(file.algorithm, content: content, issuer: file.issuer, audience: file.audience))
            } catch { throw item.problem(error.description) }
        }
        return keys
    }

    private static let mostBytes = 64 << 10

    private var location: String {
        guard !path.contains("/"), let folder = getenv("CREDENTIALS_DIRECTORY") else { return path }
        return "\(String(cString: folder))/\(path)"
    }
}
