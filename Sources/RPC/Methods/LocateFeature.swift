// SPDX-License-Identifier: MIT
import ClusterProtocol
import Responses
import SourceEngine
import JSON

/// `LocateFeature`: returns the cluster or point that shows a feature at a zoom.
struct LocateFeature: UnaryMethod {
    let declaration = MethodDeclaration.locateFeature
    let catalog: SourceCatalog
    var writesProtobuf: Bool { true }

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let target = try catalog.target(params)
        let identifier = try params.featureID(.featureID)
        let zoom = try params.number(.zoom)
        let output = FeatureOutput(form: call.form.features)
        let ready = target.readyView(zoom: zoom)
        let isQuick = ready != nil && target.revision.isQuickToLocate(identifier)
        return target.answer(isQuick: isQuick) { (revision, call, bytes) throws(SourceError) in
            let view = try target.view(ready, zoom: zoom, call)
            try revision.writeLocation(
                of: identifier, at: zoom, in: view, output: output, into: &bytes, call.cancellation)
        }
    }
}
