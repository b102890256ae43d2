// SPDX-License-Identifier: MIT

extension String {
    /// The text with each `mark` doubled, as SQL and CSV ask between quotation marks.
    ///
    /// By scalars: a mark and a combining accent after it are one character, which is not equal to the mark.
    package func doubling(_ mark: Unicode.Scalar) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar == mark { scalars.append(mark) }
            scalars.append(scalar)
        }
        return String(scalars)
    }
}
