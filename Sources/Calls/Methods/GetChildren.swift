// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources

/// `GetChildren`: returns a cluster's children at the next zoom.
struct GetChildren: UnaryMethod {
    let declaration = MethodDeclaration.getChildren
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let subject = try ClusterSubject(params, catalog)
        return subject.answer(cost: { subject.revision.childCount(of: subject.id, in: $0) }) {
            (view, bytes, cancellation) throws(SourceError) in
            try subject.revision.writeChildren(of: subject.id, in: view, into: &bytes, cancellation)
        }
    }
}
