// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// `Check`: reports whether the daemon serves, as gRPC's health service does.
struct Check: UnaryMethod {
    let declaration = MethodDeclaration.check
    let status: ServerStatus

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        PreparedAnswer(isQuick: true) { [status] (_, bytes) throws(RPCError) in
            bytes.append(status.isServing ? "{\"status\":\"SERVING\"}" : "{\"status\":\"NOT_SERVING\"}")
        }
    }
}
