// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import Sources
import SystemSupport

/// A revision's features in their order, written page by page.
public struct FeaturePages: Sendable {
    private let revision: Revision
    private let view: View
    private let output: FeatureOutput
    /// If the next page begins: an index among the filter's features, or a place in the store.
    private var next = 0
    /// How many features were written.
    public private(set) var written = 0

    /// A page ends behind the feature that reaches so many bytes.
    public static let pageBytes = 256 << 10
    private static let cancellationInterval = 256

    /// - Parameters:
    ///   - filter: an expression of which the features must pass; nil for all.
    ///   - output: the properties to keep and the decimals of coordinates.
    ///
    /// Blocks if the filter's features are not known yet: only for threads of the pool.
    public init(
        _ revision: Revision, filter: QueryFilter?, output: FeatureOutput, _ cancellation: Cancellation
    ) throws(SourceError) {
        (self.revision, self.output) = (revision, output)
        view = try revision.view(filter, zoom: nil, cancellation)
    }

    /// Whether all features were written.
    public var isAtEnd: Bool { next >= end }

    private var end: Int { view.members?.count ?? revision.store.count }

    /// Writes the next features as `{"features":[…],"revision":n}`.
    ///
    /// - Complexity: O(the page's text).
    public mutating func writePage(
        into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        let start = bytes.count
        bytes.append("{\"features\":[")
        var isFirst = true
        while next < end, bytes.count - start < Self.pageBytes {
            if next % Self.cancellationInterval == 0 { try cancellation.stopIfCancelled() }
            let place = view.members.map { Int($0[next]) } ?? next
            next += 1
            guard !revision.store.isGone(place) else { continue }
            if !isFirst { bytes.append(",") }
            isFirst = false
            revision.store.write(
                place, into: &bytes, selection: output.properties, precision: output.precision)
            written += 1
        }
        bytes.append("]")
        revision.writeVersion(into: &bytes)
        bytes.append("}")
    }
}
