// SPDX-License-Identifier: MIT
import Glibc

/// The beginning of a geometry in EWKB: byte order, kind, dimensions, reference system.
struct GeometryHead {
    enum Kind: UInt32 {
        case point = 1, lineString, polygon, multiPoint, multiLineString, multiPolygon, collection
        /// Curves and surfaces.
        case other = 0
    }

    let isLittleEndian: Bool
    let kind: Kind
    let hasAltitude: Bool
    let hasMeasure: Bool
    /// The SRID; 0 if there is none.
    let reference: UInt32

    init(_ reader: inout ByteReader) throws(PostgresDataError) {
        let order: UInt8 = try reader.integer()
        guard order <= 1 else { throw PostgresDataError("a geometry has byte order \(order)") }
        isLittleEndian = order == 1
        let type: UInt32 = try reader.integer(littleEndian: isLittleEndian)
        reference = type & 0x2000_0000 == 0 ? 0 : try reader.integer(littleEndian: isLittleEndian)
        // PostGIS uses bits for the dimensions; ISO adds 1000 to the kind for Z, 2000 for M, 3000 for both.
        let number = type & 0x1fff_ffff
        kind = Kind(rawValue: number % 1000) ?? .other
        hasAltitude = type & 0x8000_0000 != 0 || [1, 3].contains(number / 1000)
        hasMeasure = type & 0x4000_0000 != 0 || [2, 3].contains(number / 1000)
    }

    func coordinate(_ reader: inout ByteReader) throws(PostgresDataError) -> Double {
        Double(bitPattern: try reader.integer(UInt64.self, littleEndian: isLittleEndian))
    }

    /// Reads a number of parts, each of which has at least `bytes` bytes.
    func count(_ reader: inout ByteReader, ofAtLeast bytes: Int) throws(PostgresDataError) -> Int {
        let count = Int(try reader.integer(UInt32.self, littleEndian: isLittleEndian))
        guard count <= reader.remaining / bytes else { throw PostgresDataError("a geometry ends early") }
        return count
    }
}

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
    init(_ bytes: ArraySlice<UInt8>) throws(PostgresDataError) {
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
    init(hexadecimal text: ArraySlice<UInt8>) throws(PostgresDataError) {
        // A point of four dimensions with a reference has 41 bytes; nothing after them is read.
        let digits = text.prefix(82)
        try self.init(Hexadecimal.bytes(digits.dropLast(digits.count % 2))[...])
    }

    /// The sphere's radius in metres (EPSG 3857).
    private static let radius = 6_378_137.0

    private static func longitude(_ x: Double) -> Double { x / radius * 180 / .pi }

    /// The inverse of the spherical Mercator projection (EPSG guidance note 7-2, method 1024).
    private static func latitude(_ y: Double) -> Double {
        (.pi / 2 - 2 * atan(exp(-y / radius))) * 180 / .pi
    }
}
