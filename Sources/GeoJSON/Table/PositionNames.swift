// SPDX-License-Identifier: MIT
import JSON

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

    /// The two numbers of a text such as `48.1, 11.5`, `48.1 11.5` or `(48.1;11.5)`: latitude and longitude.
    static func pair(
        _ text: LentBytes
    ) -> (latitude: LentBytes, longitude: LentBytes)? {
        let text = text.trimmed { " ()[]".utf8.contains($0) }
        let isSeparator = { (byte: UInt8) in ",; ".utf8.contains(byte) }
        guard let first = text.firstIndex(where: isSeparator),
            let second = text[first...].firstIndex(where: { !isSeparator($0) })
        else { return nil }
        let parts = (
            text.upTo(first),
            text.from(second)
        )
        guard CellKind.isNumber(parts.0), CellKind.isNumber(parts.1) else { return nil }
        return (latitude: parts.0, longitude: parts.1)
    }
}

/// The cells of a table's first rows.
struct FirstCells {
    private static let most = 16
    private var rows: [[[UInt8]]] = []

    init(_ text: LentBytes, _ delimiter: UInt8, columns: Int) {
        guard columns > 0 else { return }
        var (scanner, cells) = (RowScanner(), [TableCell]())
        while rows.count < Self.most, scanner.next(text, delimiter, isLast: true, into: &cells) != nil {
            if cells.count == columns { rows.append(cells.map { Array($0.text) }) }
        }
    }

    /// Whether a column has two numbers in its first cell with any text.
    func isPair(_ column: Int) -> Bool {
        let cell = rows.lazy.map { $0[column] }.first { !$0.isEmpty }
        return cell?.lend { PositionNames.pair($0) != nil } ?? false
    }

    /// Whether a cell of these columns is a number with a decimal comma.
    func haveDecimalComma(_ columns: [Int]) -> Bool {
        rows.contains { row in
            columns.contains { column in
                var cell = row[column]
                return DecimalComma.replace(in: &cell, 0..<cell.count)
            }
        }
    }
}

/// Numbers such as `1,5`.
enum DecimalComma {
    /// Replaces the comma of a number that is a part of a text by a point; returns false, and changes nothing, if the part is none with one comma.
    static func replace(in text: inout [UInt8], _ range: Range<Int>) -> Bool {
        guard let comma = text[range].firstIndex(of: UInt8(ascii: ",")) else { return false }
        text[comma] = UInt8(ascii: ".")
        if text.lend({ CellKind.isNumber($0.part(range).trimmed()) }) { return true }
        text[comma] = UInt8(ascii: ",")
        return false
    }
}
