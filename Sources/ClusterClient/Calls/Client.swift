// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// A connection to the daemon.
///
/// Any number of tasks may call at once; their calls share the connection, and answers arrive as they are
/// ready. Cancelling a task cancels its call on the server. If the connection is lost, all calls in flight
/// and all later calls fail with `UNAVAILABLE`: connect again. The connection closes when the client and all
/// of its calls have been released, or by `close`.
///
///     let client = try await Client.connect()
///     let clusters = try await client.clusters(of: "cities", in: .world, zoom: 3)
public final class Client: Sendable {
    let connection: ClientConnection
    /// The socket of the daemon that answers.
    public let socketPath: String

    private init(_ connection: ClientConnection, at path: String) {
        self.connection = connection
        socketPath = path
    }

    /// Each open call retains the client, so that the last of them closes the connection.
    deinit { connection.close() }

    /// Connects to the daemon.
    ///
    /// - Parameter socketPath: the daemon's socket; nil means `$CLUSTERD_SOCKET` if it is set, otherwise the
    ///   first of `$XDG_RUNTIME_DIR/clusterd.sock` and `/run/clusterd/clusterd.sock` that answers.
    /// - Throws: `UNAVAILABLE` if no daemon answers, `PERMISSION_DENIED` if the process may not open the socket.
    public static func connect(socketPath: String? = nil) async throws(RPCError) -> Client {
        try await connect(to: SocketPath.candidates(option: socketPath))
    }

    /// Connects to the first socket that answers.
    static func connect(to paths: [String]) async throws(RPCError) -> Client {
        var failures: [RPCError] = []
        for path in paths {
            do throws(RPCError) {
                return Client(try await ClientConnection.connect(path: path), at: path)
            } catch {
                failures.append(error)
            }
        }
        throw ConnectFailure.error(of: failures, paths: paths)
    }

    /// Closes the connection; calls in flight fail with `CANCELLED`.
    public func close() { connection.close() }

    /// Calls a method that takes one message and answers with one.
    ///
    /// - Parameter method: the service and name, such as `ClusterService/GetClusters`, optionally preceded by
    ///   the package and version.
    /// - Throws: the `RPCError` that the server or the connection reports, or `CancellationError` if the task
    ///   is cancelled.
    public func call(
        _ method: String, _ params: CallParams = [:], options: CallOptions = .init()
    ) async throws -> Answer {
        try await Call(self, method, params, kind: .unary, options).result()
    }

    /// Opens a call whose client sends many messages and gets one answer.
    public func openClientStream(
        _ method: String, _ params: CallParams = [:], options: CallOptions = .init()
    ) throws -> ClientStreamCall {
        ClientStreamCall(try Call(self, method, params, kind: .clientStream, options))
    }

    /// Opens a call that answers with many messages.
    public func openServerStream(
        _ method: String, _ params: CallParams = [:], options: CallOptions = .init()
    ) throws -> ServerStreamCall {
        ServerStreamCall(try Call(self, method, params, kind: .serverStream, options))
    }

    /// Opens a call in which both sides send many messages.
    public func openBothWays(
        _ method: String, _ params: CallParams = [:], options: CallOptions = .init()
    ) throws -> BothWaysCall {
        BothWaysCall(try Call(self, method, params, kind: .both, options))
    }
}
