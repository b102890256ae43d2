// SPDX-License-Identifier: MIT

/// A geometry's parts by dimension, those of collections one after another.
struct GeometryParts {
    var points: [GeometryPosition] = []
    /// Each has two positions or more.
    var lines: [[GeometryPosition]] = []
    /// Each is a shell and its holes: closed rings of four positions or more.
    var areas: [[[GeometryPosition]]] = []

    /// The point that represents the geometry; nil if it has no position.
    func position(_ placing: GeometryPlacing) -> GeometryPosition? {
        switch placing {
        case .inside: InteriorPoint.of(self)
        default: Centroid.of(self)
        }
    }
}

/// A position of a geometry in degrees.
struct GeometryPosition: Equatable {
    var longitude: Double
    var latitude: Double

    func distance(to other: GeometryPosition) -> Double {
        let (x, y) = (longitude - other.longitude, latitude - other.latitude)
        return (x * x + y * y).squareRoot()
    }
}

/// Which geometries a source accepts, and which point represents each.
public enum GeometryPlacing: String, Sendable, CaseIterable {
    /// Points only.
    case point
    /// Points, and each position of a MultiPoint.
    case multipoint
    /// As `multipoint`; any other geometry is placed at its centroid.
    case centroid
    /// As `multipoint`; any other geometry is placed at a position on it, for an area well inside it.
    case inside
}
