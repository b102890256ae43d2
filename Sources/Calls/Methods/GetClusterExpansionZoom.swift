// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources

/// `GetClusterExpansionZoom`: returns the zoom at which a cluster splits.
struct GetClusterExpansionZoom: UnaryMethod {
    let declaration = MethodDeclaration.getClusterExpansionZoom
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let subject = try ClusterSubject(params, catalog)
        return subject.answer(cost: { _ in 1 }) { (view, bytes, _) throws(SourceError) in
            try subject.revision.writeExpansionZoom(of: subject.id, in: view, into: &bytes)
        }
    }
}
