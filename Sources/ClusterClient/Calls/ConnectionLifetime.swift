// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// Closes a connection when its last owner is released: the client and each of its calls are owners.
final class ConnectionLifetime: Sendable {
    let connection: ClientConnection

    init(_ connection: ClientConnection) { self.connection = connection }

    deinit { connection.close() }

    func open(
        _ method: String, _ params: CallParams, kind: MethodDeclaration.Kind, options: CallOptions
    ) throws -> Call {
        let (id, inbox) = try connection.open(method, params, kind: kind, options: options)
        return Call(self, id: id, inbox: inbox, timeout: options.timeout)
    }
}
