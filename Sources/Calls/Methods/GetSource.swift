// SPDX-License-Identifier: MIT
import ClusterProtocol
import Sources

/// `GetSource`: returns a source's description.
struct GetSource: UnaryMethod {
    let declaration = MethodDeclaration.getSource
    let catalog: SourceCatalog

    var needsNoData: Bool { true }

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let source = try catalog.source(params)
        return PreparedAnswer(isQuick: true) { (_, bytes) throws(RPCError) in
            source.description.write(into: &bytes)
        }
    }
}
