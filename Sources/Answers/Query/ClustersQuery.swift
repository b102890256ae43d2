// SPDX-License-Identifier: MIT
import Sources

/// The query of `GetClusters`.
public struct ClustersQuery: Sendable {
    public var box: Box
    /// Any finite number. Its floor is used, clamped to the source's zooms.
    public var zoom: Double
    /// The most features to return; nil for all.
    public var limit: Int?
    public var output: FeatureOutput

    public init(box: Box, zoom: Double, limit: Int? = nil, output: FeatureOutput = FeatureOutput()) {
        self.box = box
        self.zoom = zoom
        self.limit = limit
        self.output = output
    }
}
