// SPDX-License-Identifier: MIT

/// Keeps passwords out of messages. libpq does not repeat them, but a server or a proxy might.
enum SecretText {
    /// The text with `***` for each occurrence of the password as a whole word. A part of another word is no
    /// secret, and replacing it would spell the password. Neither is the user's name, which messages contain
    /// anyway.
    static func hide(_ password: String, in text: String, user: String) -> String {
        guard !password.isEmpty, password != user else { return text }
        var (hidden, rest) = ("", text[...])
        while let range = rest.firstRange(of: password) {
            let before = rest[..<range.lowerBound]
            let isWord =
                !isWordCharacter(before.last ?? hidden.last)
                && !isWordCharacter(rest[range.upperBound...].first)
            hidden += before
            hidden += isWord ? "***" : password
            rest = rest[range.upperBound...]
        }
        return hidden + rest
    }

    private static func isWordCharacter(_ character: Character?) -> Bool {
        guard let character else { return false }
        return character.isLetter || character.isNumber || character == "_"
    }
}
