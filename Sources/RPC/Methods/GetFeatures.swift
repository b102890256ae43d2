// SPDX-License-Identifier: MIT
import Responses
import ClusterProtocol
import JSON
import SourceEngine

/// `GetFeatures`: streams all features of one revision, or those that pass a filter, in pages.
struct GetFeatures: ServerStreamMethod {
    let declaration = MethodDeclaration.getFeatures
    let catalog: SourceCatalog
    var writesProtobuf: Bool { true }

    func begin(_ params: Params, _ call: CallContext, _ output: StreamOutput) throws(RPCError) -> any ServerStream {
        PageStream(try job(params, call), output)
    }

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer? {
        switch call.form {
        case .json, .raw, .protobuf: nil
        case .document, .columns: PreparedAnswer(try job(params, call))
        }
    }

    private func job(_ params: Params, _ call: CallContext) throws(RPCError) -> PageJob {
        let target = try catalog.target(params)
        var output = try catalog.output(params)
        output.form = call.form.features
        return PageJob(target, call) { [output] (target, call) throws(SourceError) in
            let pages = try FeaturePages(target.revision, filter: target.filter, output: output, call.cancellation)
            switch call.form {
            case .json, .raw, .protobuf: return pages
            case .document: return CollectionPages(pages)
            case .columns(let geometry):
                return try target.revision.featureColumns(
                    pages, output: output, geometry: geometry, call.cancellation)
            }
        }
    }
}
