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
        for (index, value) in (try params.optionalArray(.remove) ?? []).enumerated() {
            guard FeatureIdentifier(value) != nil else {
                throw params.invalid(.remove, at: index, "must be a number or a string.")
            }
        }
        // Ids are read from the param's text: a parsed number loses the last digits of a long integer.
        let removals =
            (params.text(of: .remove) ?? []).withUnsafeBytes { FeatureIdentifier.list(json: $0) } ?? []
        // Features are stored as sent, so their text is passed on.
        let features = params.text(of: .upsert) ?? Array("[]".utf8)
        do throws(SourceError) {
            let outcome = try features.withUnsafeBufferPointer { (features) throws(SourceError) in
                try source.update(
                    upserts: UnsafeRawBufferPointer(features), removals: removals, call.cancellation)
            }
            call.noteChanged(outcome.inserted + outcome.updated + outcome.removed)
            outcome.write(into: &bytes)
        } catch {
            throw RPCError(error, call).ofFeature(in: params.path(of: .upsert))
        }
    }
}
