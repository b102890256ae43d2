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
