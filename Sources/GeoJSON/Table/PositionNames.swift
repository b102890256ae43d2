// SPDX-License-Identifier: MIT

/// The names by which columns and members with positions are known, in lowercase.
enum PositionNames {
    static let longitudes = ["longitude", "lon", "lng", "long", "x"]
    static let latitudes = ["latitude", "lat", "y"]
    /// One column with latitude and longitude, in this order, as maps on the web show them.
    static let pairs = [
        "coordinates", "coordinate", "coords", "position", "location", "geolocation", "latlng", "latlon",
        "lat_lng", "lat_lon",
        "latlong", "lat_long", "lat/lng", "lat/lon", "lat,lng", "lat,lon", "geo_point_2d", "gps", "point",
    ]

    /// The index of the given name, or else of the first of the usual ones in any letter case.
    static func find(_ given: String?, _ usual: [String], _ names: [String]) -> Int? {
        if let given { return names.firstIndex { $0.hasSameBytes(as: given) } }
        let lowered = names.map { $0.lowercased() }
        return usual.lazy.compactMap { lowered.firstIndex(of: $0) }.first
    }

    /// The two numbers of a text such as `48.1, 11.5`, `48.1 11.5` or `(48.1;11.5)`: latitude and longitude.
    static func pair(
        _ text: UnsafeRawBufferPointer
    ) -> (latitude: UnsafeRawBufferPointer, longitude: UnsafeRawBufferPointer)? {
        let text = text.trimmed { " ()[]".utf8.contains($0) }
        let isSeparator = { (byte: UInt8) in ",; ".utf8.contains(byte) }
        guard let first = text.firstIndex(where: isSeparator),
            let second = text[first...].firstIndex(where: { !isSeparator($0) })
        else { return nil }
        let parts = (
            UnsafeRawBufferPointer(rebasing: text[..<first]), UnsafeRawBufferPointer(rebasing: text[second...])
        )
        guard CellKind.isNumber(parts.0), CellKind.isNumber(parts.1) else { return nil }
        return (latitude: parts.0, longitude: parts.1)
    }
}

/// The cells of a table's first rows.
struct FirstCells {
    private static let most = 16
    private let rows: [[[UInt8]]]

    init(_ text: [UInt8], _ delimiter: UInt8, columns: Int) {
        rows = RowScanner.rows(of: text, delimiter, most: Self.most)
            .filter { $0.count == columns }.map { $0.map { Array($0.utf8) } }
    }

    /// Whether a column has two numbers in its first cell with any text.
    func isPair(_ column: Int) -> Bool {
        let cell = rows.lazy.map { $0[column] }.first { !$0.isEmpty }
        return cell?.withUnsafeBytes { PositionNames.pair($0) != nil } ?? false
    }

    /// Whether a cell of these columns is a number with a decimal comma.
    func haveDecimalComma(_ columns: [Int]) -> Bool {
        rows.contains { row in
            columns.contains { column in
                var cell = row[column]
                return cell.withUnsafeMutableBytes { DecimalComma.replace($0) }
            }
        }
    }
}

/// Numbers such as `1,5`.
enum DecimalComma {
    /// Replaces the comma of a number by a point; returns false, and changes nothing, if the text is none with one
    /// comma.
    static func replace(_ text: UnsafeMutableRawBufferPointer) -> Bool {
        guard let comma = text.firstIndex(of: UInt8(ascii: ",")) else { return false }
        text[comma] = UInt8(ascii: ".")
        if CellKind.isNumber(UnsafeRawBufferPointer(text).trimmed()) { return true }
        text[comma] = UInt8(ascii: ",")
        return false
    }
}
