// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// `GetServerInfo`: returns name, version, limits and methods.
struct GetServerInfo: UnaryMethod {
    let declaration = MethodDeclaration.getServerInfo
    let status: ServerStatus
    let settings: LiveSettings

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        PreparedAnswer(isQuick: true) { [status, settings] (_, bytes) throws(RPCError) in
            bytes.append(
                .object([
                    "name": .string(ServerStatus.serverName), "version": .string(Release.version),
                    "uptimeSeconds": .number(status.uptimeSeconds), "lastReload": status.lastReload,
                    "limits": .object(settings.values.limitsJSON), "methods": Self.methods,
                ]))
        }
    }

    private static let methods = JSONValue.array(
        MethodDeclaration.all.map { method in
            .object([
                "name": .string(method.fullName), "kind": .string(method.kind.rawValue),
                "right": .string(method.right.name),
                "params": .array(method.params.map { .string($0) }), "summary": .string(method.summary),
            ])
        })
}
