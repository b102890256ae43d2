// SPDX-License-Identifier: MIT

/// The type modifier of a PostGIS column, such as that of `geometry(Point, 4326)`.
///
/// Source: TYPMOD_GET_SRID and TYPMOD_GET_TYPE in PostGIS's liblwgeom.h.
struct GeometryModifier: Equatable {
    /// The SRID; 0 if there is none.
    let reference: Int
    /// The WKB number of the only kind allowed; 0 allows all.
    let kind: Int

    init(_ modifier: Int) {
        guard modifier >= 0 else {
            (reference, kind) = (0, 0)
            return
        }
        reference = ((modifier & 0x0fff_ff00) - (modifier & 0x1000_0000)) >> 8
        kind = (modifier & 0xfc) >> 2
    }

    var allowsPoints: Bool { kind <= 1 }
}
