// SPDX-License-Identifier: MIT

/// Which weights points may have.
enum PointWeight {
    /// Far from the limits of a double, so that sums of weights, and of weighted positions, stay finite and
    /// above 0.
    private static let range = 1e-100...1e100

    /// Whether a weight is a number above 0, of a size that can be summed.
    static func isGood(_ weight: Double) -> Bool { range.contains(weight) }
}
