// SPDX-License-Identifier: MIT

extension Option {
    /// As shown in help: `-s, --socket=PATH`.
    var synopsis: String {
        (short.map { "-\($0), " } ?? "    ") + "--\(name)" + (valueName.map { "=\($0)" } ?? "")
    }

    /// The help, with additions for the kind, the default and repetition.
    var helpWithKind: String {
        var text = help
        if case .oneOf(let words) = kind, valueName != nil { text += ": " + words.joined(separator: ", ") }
        if let standard = standard ?? standardInWords { text += "; default \(standard)" }
        if isRepeatable { text += "; may be repeated" }
        return text
    }
}
