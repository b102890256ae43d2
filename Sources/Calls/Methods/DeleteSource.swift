// SPDX-License-Identifier: MIT
import Answers
import ClusterProtocol
import JSON
import Sources

/// `DeleteSource`: removes a source and its files.
struct DeleteSource: UnaryMethod {
    let declaration = MethodDeclaration.deleteSource
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let name = try catalog.sourceToChange(params, call, insteadOf: .source).name
        let registry = catalog.registry
        return PreparedAnswer(isQuick: false, subject: .data(name)) { (_, bytes) throws(RPCError) in
            try answering { () throws(SourceError) in try registry.delete(name) }
            bytes.append("{}")
        }
    }
}
