// SPDX-License-Identifier: MIT

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
