// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources

/// `UpdateOptions`: changes a source's options and rebuilds its clusters.
struct UpdateOptions: UnaryMethod {
    let declaration = MethodDeclaration.updateOptions
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let source = try catalog.sourceToChange(params, call, insteadOf: .options)
        guard let options = try params.value("options") else {
            throw .invalidParam(
                params.path(of: "options"), "is missing: the complete options were expected.")
        }
        return PreparedAnswer(isQuick: false, subject: .data(source.name)) { (call, bytes) throws(RPCError) in
            try answering(call) { () throws(SourceError) in
                let options = try SourceOptions(reading: options)
                try source.update(options: options, call.cancellation).write(into: &bytes)
            }
        }
    }
}
