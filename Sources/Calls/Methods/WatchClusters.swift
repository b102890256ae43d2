// SPDX-License-Identifier: MIT
import ClusterProtocol

/// `WatchClusters`: streams the changes of a viewport as they happen.
struct WatchClusters: ServerStreamMethod {
    let declaration = MethodDeclaration.watchClusters
    let catalog: SourceCatalog
    private let budget: WatchBudget

    init(catalog: SourceCatalog) {
        self.catalog = catalog
        budget = WatchBudget(settings: catalog.settings)
    }

    func begin(
        _ params: Params, _ call: CallContext, _ output: any ServerStreamOutput
    ) throws(RPCError) -> any ServerStream {
        WatchStream(try WatchRequest(params, catalog), call, output, budget)
    }
}
