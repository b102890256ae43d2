// SPDX-License-Identifier: MIT
import Glibc

/// A PostGIS point, read from extended well-known binary (EWKB), as degrees of longitude and latitude.
///
/// Sources: https://libgeos.org/specifications/wkb/, https://postgis.net/docs/using_postgis_dbmanagement.html
enum PointGeometry: Equatable, Sendable {
    /// The altitude is nil for a point of two dimensions.
    case position(longitude: Double, latitude: Double, altitude: Double?)
    /// `POINT EMPTY`.
    case empty
    /// A geometry of another kind, by its WKB number.
    case notAPoint(kind: UInt32)
    /// Coordinates of a reference system that is not converted.
    case foreignReference(id: UInt32)

    /// Reads EWKB. SRID 4326 and none are degrees; 3857 is converted.
    init(_ bytes: UnsafeRawBufferPointer) throws(PostgresDataError) {
        var reader = ByteReader(bytes)
        let head = try GeometryHead(&reader)
        guard head.kind == .point else {
            self = .notAPoint(kind: head.kind.rawValue)
            return
        }
        let x = try head.coordinate(&reader)
        let y = try head.coordinate(&reader)
        let z = head.hasAltitude ? try head.coordinate(&reader) : nil
        if x.isNaN && y.isNaN {
            self = .empty
            return
        }
        switch head.reference {
        case 0, 4326: self = .position(longitude: x, latitude: y, altitude: z)
        case 3857: self = .position(longitude: Self.longitude(x), latitude: Self.latitude(y), altitude: z)
        default: self = .foreignReference(id: head.reference)
        }
    }

    /// Reads the text form of a geometry in PostgreSQL: hexadecimal EWKB.
    init(hexadecimal text: UnsafeRawBufferPointer) throws(PostgresDataError) {
        // A point of four dimensions with a reference has 41 bytes; nothing after them is read.
        let count = min(text.count, 82) / 2
        self = try withUnsafeTemporaryAllocation(byteCount: max(count, 1), alignment: 8) {
            (bytes) throws(PostgresDataError) in
            for index in 0..<count {
                bytes[index] = try Hexadecimal.byte(text[2 * index], text[2 * index + 1])
            }
            return try PointGeometry(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }

    /// The sphere's radius in metres (EPSG 3857).
    private static let radius = 6_378_137.0

    private static func longitude(_ x: Double) -> Double { x / radius * 180 / .pi }

    /// The inverse of the spherical Mercator projection (EPSG guidance note 7-2, method 1024).
    private static func latitude(_ y: Double) -> Double {
        (.pi / 2 - 2 * atan(exp(-y / radius))) * 180 / .pi
    }
}
