// SPDX-License-Identifier: MIT

/// The markers that a client has. A change of its viewport is sent as a difference.
///
/// Takes 24 bytes for each marker, and as much again for the memo. A new client's table is empty.
public struct MarkerTable: Sendable {
    /// By identity, then content, then occurrence.
    private(set) var markers: [Marker] = []

    /// The nodes of the answer; nil if they are not remembered.
    var memo: CandidateMemo?

    public init() {}

    init(sorted markers: [Marker]) { self.markers = markers }

    public var count: Int { markers.count }
}
