// SPDX-License-Identifier: MIT

/// Which columns of a table mean what.
public struct TableColumns: Sendable, Equatable {
    /// The column of the longitude. If nil, the first of `longitude`, `lon`, `lng`, `long`, `x` in any letter
    /// case.
    public var longitude: String?
    /// The column of the latitude. If nil, the first of `latitude`, `lat`, `y` in any letter case.
    public var latitude: String?
    /// The column of the id. If nil, `id` if there is such a column.
    public var id: String?
    /// The separator of cells. If nil, the comma, semicolon or tab found in the header.
    public var delimiter: UInt8?
    /// Columns whose cells stay text.
    public var text: Set<String>

    public init(
        longitude: String? = nil, latitude: String? = nil, id: String? = nil, delimiter: UInt8? = nil,
        text: Set<String> = []
    ) {
        (self.longitude, self.latitude, self.id) = (longitude, latitude, id)
        (self.delimiter, self.text) = (delimiter, text)
    }

    /// The separator with a name: one character, or `tab`. Nil if it cannot separate cells.
    public static func delimiter(named name: String) -> UInt8? {
        if name == "tab" || name == "\\t" { return UInt8(ascii: "\t") }
        guard name.utf8.count == 1, let byte = name.utf8.first else { return nil }
        let letters = UInt8(ascii: "0")...UInt8(ascii: "z")
        return byte == UInt8(ascii: "\"") || byte < 9 || byte == 10 || byte == 13
            || letters.contains(byte) && byte != UInt8(ascii: ";") && byte != UInt8(ascii: "^") ? nil : byte
    }
}
