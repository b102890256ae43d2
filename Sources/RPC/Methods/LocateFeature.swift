// SPDX-License-Identifier: MIT
import ClusterProtocol
import Responses
import SourceEngine
import JSON

/// `LocateFeature`: returns the cluster or point that shows a feature at a zoom.
struct LocateFeature: UnaryMethod {
    let declaration = MethodDeclaration.locateFeature
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let target = try catalog.target(params)
        // Read from the param's text: a parsed number loses the last digits of a long integer.
        guard let identifier = params.text(of: .featureID)?.withUnsafeBytes({ FeatureIdentifier(json: $0) })
        else {
            throw params.invalid(.featureID, "must be a feature's id: a number or a string.")
        }
        let zoom = try params.number(.zoom)
        let revision = target.revision
        let isQuick =
            revision.isQuickToLocate(identifier) && revision.readyView(target.filter, zoom: zoom) != nil
        return target.answer(isQuick: isQuick) { (revision, call, bytes) throws(SourceError) in
            let view = try revision.view(target.filter, zoom: zoom, call.cancellation)
            try revision.writeLocation(of: identifier, at: zoom, in: view, into: &bytes, call.cancellation)
        }
    }
}
