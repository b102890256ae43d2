// SPDX-License-Identifier: MIT
import ClusterProtocol

extension MethodSet {
    /// All methods, serving one set of sources.
    package init(_ catalog: SourceCatalog, _ status: ServerStatus) {
        self.init { (method, params) throws(RPCError) in try catalog.find(&params, method) }
        add(GetClusters(catalog: catalog))
        add(GetTile(catalog: catalog))
        add(GetChildren(catalog: catalog))
        add(GetLeaves(catalog: catalog))
        add(GetClusterExpansionZoom(catalog: catalog))
        add(GetConvexHull(catalog: catalog))
        add(LocateFeature(catalog: catalog))
        add(DescribeTiles(catalog: catalog))
        add(WatchClusters(catalog: catalog))
        add(TopFeatures(catalog: catalog))
        add(GetHistogram(catalog: catalog))
        add(GetGrid(catalog: catalog))
        add(CreateSource(catalog: catalog))
        add(ImportFeatures(catalog: catalog))
        add(LoadFile(catalog: catalog))
        add(UpdateFeatures(catalog: catalog))
        add(ApplyChanges(catalog: catalog))
        add(UpdateOptions(catalog: catalog))
        add(PublishTiles(catalog: catalog))
        add(DeleteSource(catalog: catalog))
        add(GetFeatures(catalog: catalog))
        add(GetSource(catalog: catalog))
        add(ListSources(catalog: catalog))
        add(EvaluateExpression())
        add(Check(status: status))
        add(GetServerInfo(status: status, settings: catalog.settings))
        add(ExplainAccess(catalog: catalog))
        add(GetStats(status: status, catalog: catalog))
    }
}
