// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources

/// `GetConvexHull`: returns the convex hull of a cluster's points.
struct GetConvexHull: UnaryMethod {
    let declaration = MethodDeclaration.getConvexHull
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let subject = try ClusterSubject(params, catalog)
        return subject.answer(cost: { subject.revision.hullCost(of: subject.id, in: $0) }) {
            (view, bytes, cancellation) throws(SourceError) in
            try subject.revision.writeHull(of: subject.id, in: view, into: &bytes, cancellation)
        }
    }
}
