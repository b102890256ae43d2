// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources
import SystemSupport
import JSON

/// clusterd.v1.ClusterService: what is seen of a source's points.
package struct ClusterService: Sendable {
    package let catalog: SourceCatalog

    package init(catalog: SourceCatalog) { self.catalog = catalog }

    package var handlers: MethodHandlers {
        var handlers: MethodHandlers = [:]
        for (name, handler) in viewportHandlers + clusterHandlers {
            handlers["clusterd.v1.ClusterService/\(name)"] = .unary(catalog.checkingText(handler))
        }
        handlers["clusterd.v1.ClusterService/GetClusters"] = .unary(ClustersHandler(catalog: catalog))
        handlers["clusterd.v1.ClusterService/WatchClusters"] = .serverStream(WatchHandler(catalog: catalog))
        return handlers
    }

    /// The most features that the loop's thread writes at once.
    static let shortListing = 2000
}
