// SPDX-License-Identifier: MIT
import CSodium

/// The functions of libsodium that tokens need.
enum Sodium {
    /// The library chooses its implementations once; false if the system has no source of randomness.
    private static let isReady = sodium_init() >= 0

    /// The HMAC with SHA-256 of a message, for a key of any length (RFC 2104).
    static func hmac(_ message: [UInt8], key: [UInt8]) -> [UInt8]? {
        guard isReady else { return nil }
        var code = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_BYTES))
        var state = crypto_auth_hmacsha256_state()
        crypto_auth_hmacsha256_init(&state, key, key.count)
        crypto_auth_hmacsha256_update(&state, message, UInt64(message.count))
        crypto_auth_hmacsha256_final(&state, &code)
        sodium_memzero(&state, MemoryLayout.size(ofValue: state))
        return code
    }

    static func sha256(_ text: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        crypto_hash_sha256(&digest, text, UInt64(text.count))
        return digest
    }

    /// Whether two texts are equal, in a time that depends only on their lengths.
    static func areEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        a.count == b.count && sodium_memcmp(a, b, a.count) == 0
    }

    /// Whether an Ed25519 signature is that of a message (RFC 8032).
    static func isSignature(_ signature: [UInt8], of message: [UInt8], key: [UInt8]) -> Bool {
        guard isReady, signature.count == Int(crypto_sign_ed25519_BYTES),
            key.count == Int(crypto_sign_ed25519_PUBLICKEYBYTES)
        else { return false }
        return crypto_sign_ed25519_verify_detached(signature, message, UInt64(message.count), key) == 0
    }
}
