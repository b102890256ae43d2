// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources

/// `GetLeaves`: returns a page of a cluster's points.
struct GetLeaves: UnaryMethod {
    let declaration = MethodDeclaration.getLeaves
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let subject = try ClusterSubject(params, catalog)
        let limit = Int(
            clamping: try params.optionalInteger("limit", in: 0...(1 << 53)) ?? ParamDefaults.leaves)
        let offset = Int(clamping: try params.optionalInteger("offset", in: 0...(1 << 53)) ?? 0)
        func cost(_ view: View) -> Int {
            let count = subject.revision.pointCount(of: subject.id, in: view)
            return limit == 0 ? count : min(count, limit)
        }
        return subject.answer(cost: cost) { (view, bytes, cancellation) throws(SourceError) in
            try subject.revision.writeLeaves(
                of: subject.id, in: view, limit: limit, offset: offset, into: &bytes, cancellation)
        }
    }
}
