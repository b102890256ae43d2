// SPDX-License-Identifier: MIT

/// Stands for a text that is not to be shown, and that nobody can find another text for.
public enum Digest {
    /// The SHA-256 of a text, in hexadecimal.
    public static func hexadecimal(_ text: [UInt8]) -> String {
        Sodium.sha256(text).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
