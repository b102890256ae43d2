// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// Features, and the revision of the source's data from which they come.
public struct FeatureCollection: Sendable, Equatable {
    public let features: [Feature]
    public let revision: Int64
    /// The data's position in the log of the table that the source follows; nil if it follows none.
    public let position: String?
    /// Whether more features exist than the limit allowed; nil if no limit was given.
    public let isTruncated: Bool?
    /// The total number of leaves; nil except for `leaves`.
    public let total: Int?

    package init(_ answer: Answer) throws {
        let value = try answer.value()
        guard let features = value["features"]?.asArray,
            let revision = value["revision"]?.asNumber.flatMap({ Int64(exactly: $0) })
        else { throw RPCError(.internal, "the server's answer is not a FeatureCollection with a revision") }
        self.features = features.compactMap(Feature.init)
        self.revision = revision
        position = value["position"]?.asString
        isTruncated = value["truncated"]?.asBool
        total = value["total"]?.asInteger
    }
}
