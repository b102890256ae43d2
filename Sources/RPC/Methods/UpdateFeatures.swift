// SPDX-License-Identifier: MIT
import ClusterProtocol
import Responses
import SourceEngine
import JSON

/// `UpdateFeatures`: adds, replaces and removes features by id.
struct UpdateFeatures: UnaryMethod {
    let declaration = MethodDeclaration.updateFeatures
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let source = try catalog.sourceToChange(params, call, insteadOf: .features)
        return PreparedAnswer(isQuick: false, subject: .data(source.name)) { (call, bytes) throws(RPCError) in
            try Self.update(source, params, call, &bytes)
        }
    }

    private static func update(
        _ source: Source, _ params: Params, _ call: CallContext, _ bytes: inout ByteWriter
    ) throws(RPCError) {
        _ = try params.optionalArray(.upsert)
        let removals = try params.featureIDs(.remove)
        do throws(SourceError) {
            let outcome = try source.update(upserts: params.text(of: .upsert), removals: removals, call.cancellation)
            call.noteChanged(outcome.inserted + outcome.updated + outcome.removed)
            outcome.write(into: &bytes)
        } catch {
            throw RPCError(error, call).ofFeature(in: params.path(of: .upsert))
        }
    }
}
