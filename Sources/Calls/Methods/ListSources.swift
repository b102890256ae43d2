// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Sources

/// `ListSources`: returns all sources' descriptions, ordered by name.
struct ListSources: UnaryMethod {
    let declaration = MethodDeclaration.listSources
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let registry = catalog.registry
        return PreparedAnswer(isQuick: true) { (_, bytes) throws(RPCError) in
            bytes.append("{\"sources\":[")
            for (index, source) in registry.all.enumerated() {
                if index > 0 { bytes.append(",") }
                source.description.write(into: &bytes)
            }
            bytes.append("]}")
        }
    }
}
