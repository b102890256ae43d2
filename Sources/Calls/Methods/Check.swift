// SPDX-License-Identifier: MIT
import ClusterProtocol

/// `Check`: whether the daemon serves, as gRPC's health service.
struct Check: UnaryMethod {
    let declaration = MethodDeclaration.check
    let status: ServerStatus

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        PreparedAnswer(isQuick: true) { [status] (_, bytes) throws(RPCError) in
            bytes.append(status.isServing ? "{\"status\":\"SERVING\"}" : "{\"status\":\"NOT_SERVING\"}")
        }
    }
}
