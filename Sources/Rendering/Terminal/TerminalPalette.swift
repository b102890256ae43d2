// SPDX-License-Identifier: MIT

/// The colours that a terminal can show: none, the 256 indexed ones, or 24 bits.
public enum TerminalPalette: Sendable {
    case none, indexed, full

    /// The code that sets the colour of letters.
    func foreground(_ colour: Colour) -> String { code(38, colour) }

    /// The code that sets the colour behind letters.
    func background(_ colour: Colour) -> String { code(48, colour) }

    private func code(_ kind: Int, _ colour: Colour) -> String {
        switch self {
        case .none: return ""
        case .full: return "\u{1B}[\(kind);2;\(colour.red);\(colour.green);\(colour.blue)m"
        case .indexed:
            // The colour cube with six steps per channel, which 256-colour terminals have from index 16 on.
            let steps = [colour.red, colour.green, colour.blue].map { (Int($0) * 5 + 127) / 255 }
            return "\u{1B}[\(kind);5;\(16 + steps[0] * 36 + steps[1] * 6 + steps[2])m"
        }
    }
}
