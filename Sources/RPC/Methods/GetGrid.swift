// SPDX-License-Identifier: MIT
import ClusterProtocol
import Responses
import SourceEngine
import JSON

/// `GetGrid`: counts points by squares.
struct GetGrid: UnaryMethod {
    let declaration = MethodDeclaration.getGrid
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let target = try catalog.target(params)
        let box = try params.box(.bbox)
        let resolution = Int(try params.integer(.resolution))
        let window = try params.window()
        try target.checkWindow(window)
        // A filter sees the resolution as the zoom.
        let zoom = Double(resolution)
        let ready = target.readyView(zoom: zoom)
        let isQuick = window == nil && ready?.isQuickToCount(within: ShortListing.features) ?? false
        return target.answer(isQuick: isQuick) {
            (revision, call, bytes) throws(SourceError) in
            let view = try target.view(ready, zoom: zoom, call)
            try revision.writeGrid(
                box, resolution: resolution, of: view, window: window, into: &bytes, call.cancellation)
        }
    }
}
