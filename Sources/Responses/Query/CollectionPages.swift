// SPDX-License-Identifier: MIT
import JSON
import SourceEngine
import SystemSupport

/// All features as one GeoJSON FeatureCollection with `revision`, of any length.
public struct CollectionPages: AnswerPages {
    private var pages: FeaturePages
    private var hasBegun = false

    public init(_ pages: FeaturePages) { self.pages = pages }

    public var isAtEnd: Bool { hasBegun && pages.isAtEnd }

    public mutating func writePage(into bytes: inout ByteWriter, _ cancellation: Cancellation) throws(SourceError) {
        if !hasBegun { bytes.append("{\"type\":\"FeatureCollection\",\"features\":[") }
        hasBegun = true
        try pages.writeFeatures(into: &bytes, afterOthers: pages.written > 0, cancellation)
    }

    public func writeEnd(into bytes: inout ByteWriter) {
        bytes.append("]")
        pages.revision.endAnswer(&bytes)
    }
}
