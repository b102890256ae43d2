// SPDX-License-Identifier: MIT

/// The replacement of a store's row.
public struct FeatureReplacement: Sendable {
    public let place: Int
    /// The row in the store of new features; nil to remove the feature.
    public let row: Int?

    public init(place: Int, row: Int?) {
        self.place = place
        self.row = row
    }
}
