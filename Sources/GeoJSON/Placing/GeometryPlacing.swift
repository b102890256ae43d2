// SPDX-License-Identifier: MIT

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
