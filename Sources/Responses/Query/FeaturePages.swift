// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import Protobuf
import SourceEngine
import SystemSupport
import TypedFeatures

/// A revision's features in their order, written page by page.
public struct FeaturePages: AnswerPages, Sendable {
    let revision: Revision
    let view: View
    private let output: FeatureOutput
    /// The rows of a filter's features, in the order in which the source has them.
    private let members: [UInt32]?
    /// The next feature: an index into the filter's features, or the number of those read before.
    private var next = 0
    /// The features before this one are being read from the disk, or are not far apart there.
    private var ahead = 0
    /// Nil if the features are not written in the order of clustering, and after the last one.
    private var walk: PointOrder.Walk?
    /// Whether the view does not show some of the features among which the next one is looked for.
    private let isPartial: Bool
    /// The number of features written.
    public private(set) var written = 0

    /// A page ends after the feature that reaches this size.
    public static let pageBytes = 256 << 10
    private static let cancellationInterval = 256

    /// - Parameters:
    ///   - filter: the filter that features must pass; nil for all features.
    ///   - output: the properties to keep, and the number of decimals of coordinates.
    ///
    /// Blocks if the filter's view must be built: only for threads of the pool.
    public init(
        _ revision: Revision, filter: QueryFilter?, output: FeatureOutput, _ cancellation: Cancellation
    ) throws(SourceError) {
        (self.revision, self.output) = (revision, output)
        view = try revision.view(filter, zoom: nil, cancellation)
        // Those of replicas are in the order of the key.
        members =
            view.order == nil || revision.logs.table != nil
            ? view.members : view.members.map(revision.store.inInputOrder)
        isPartial = view.members == nil && !revision.showsAll(view)
        // Replicas of a table receive features in different orders, so these are sorted.
        if revision.logs.table != nil, view.order != nil, view.members == nil { walk = PointOrder.Walk() }
    }

    /// Whether all features were written.
    public var isAtEnd: Bool { next >= end }

    private var end: Int { members?.count ?? revision.store.count }

    /// The row of the next feature; nil if it has been removed, or the view does not show it.
    private mutating func nextRow() -> Int? {
        let index: Int
        if var walk, let order = view.order {
            guard let found = order.next(&walk) else {
                next = end
                return nil
            }
            (index, self.walk) = (found, walk)
        } else {
            if next >= ahead { readAhead() }
            index = row(next)
            next += 1
        }
        guard !revision.store.isRemoved(index), !isPartial || view.point(of: index) != nil else { return nil }
        return index
    }

    private func row(_ number: Int) -> Int {
        members.map { Int($0[number]) } ?? revision.store.row(ofInput: number)
    }

    /// Records are along the curve in an image, and not in the order of the input.
    private mutating func readAhead() {
        ahead = min(end, next + Self.mostAhead)
        if !revision.store.isInInputOrder { revision.store.willRead((next..<ahead).map(row)) }
    }

    private static let mostAhead = 512

    /// The rows of the next features, at most so many; empty after the last one.
    mutating func takeRows(_ most: Int) -> [Int] {
        var rows: [Int] = []
        while next < end, rows.count < most {
            if let row = nextRow() { rows.append(row) }
        }
        return rows
    }

    /// Writes the next features as `{"features":[…],"revision":n}`.
    ///
    /// - Complexity: O(the page's text).
    public mutating func writePage(into bytes: inout ByteWriter, _ cancellation: Cancellation) throws(SourceError) {
        if let structProperties = output.form.structProperties {
            return try writePage(structProperties, into: &bytes, cancellation)
        }
        bytes.append("{\"features\":[")
        try writeFeatures(into: &bytes, afterOthers: false, cancellation)
        bytes.append("]")
        revision.endAnswer(&bytes)
    }

    /// Writes the next features with commas between them.
    ///
    /// - Parameter afterOthers: whether a comma is needed before the first one, too.
    mutating func writeFeatures(
        into bytes: inout ByteWriter, afterOthers: Bool, _ cancellation: Cancellation
    ) throws(SourceError) {
        let start = bytes.count
        var (isFirst, visited) = (!afterOthers, 0)
        while next < end, bytes.count - start < Self.pageBytes {
            if visited % Self.cancellationInterval == 0 { try cancellation.stopIfCancelled() }
            visited += 1
            guard let index = nextRow() else { continue }
            if !isFirst { bytes.append(",") }
            isFirst = false
            revision.store.write(index, into: &bytes, selection: output.properties, precision: output.precision)
            written += 1
        }
    }

    /// Writes the next features as a message of the stream.
    private mutating func writePage(
        _ structProperties: Bool, into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        let page = bytes.beginField(TypedFields.GetFeaturesResponse.page)
        var visited = 0
        while next < end, bytes.count - page < Self.pageBytes {
            if visited % Self.cancellationInterval == 0 { try cancellation.stopIfCancelled() }
            visited += 1
            guard let index = nextRow() else { continue }
            let start = bytes.beginField(TypedFields.Answer.features)
            revision.store.writeMessage(
                index, into: &bytes, structProperties: structProperties, selection: output.properties,
                precision: output.precision)
            bytes.endField(start)
            written += 1
        }
        revision.endAnswer(&bytes, form: output.form)
        bytes.endField(page)
    }

    /// Writes the end of the stream: how many features there were.
    public func writeEnd(into bytes: inout ByteWriter) {
        guard output.form != .json else {
            bytes.append("{\"features\":")
            bytes.append(integer: Int64(written))
            return revision.endAnswer(&bytes)
        }
        let done = bytes.beginField(TypedFields.GetFeaturesResponse.done)
        bytes.append(field: TypedFields.Answer.features, nonZero: UInt64(written))
        bytes.append(field: TypedFields.Answer.revision, nonZero: revision.number)
        bytes.endField(done)
    }
}
