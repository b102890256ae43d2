// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import Glibc

/// Explains why a client cannot connect, and what to do about it.
enum ConnectFailure {
    static let noThread = RPCError(.resourceExhausted, "no thread could be started for the connection")

    static func error(_ failure: EventLoopError, path: String) -> RPCError {
        let start =
            "start the daemon (clusterd --socket \(path)), or name its socket by --socket or $CLUSTERD_SOCKET"
        switch failure.number {
        case ENOENT: return RPCError(.unavailable, "there is no socket at \(path): \(start)")
        case ECONNREFUSED: return RPCError(.unavailable, "no daemon listens at \(path): \(start)")
        case EACCES, EPERM:
            return RPCError(
                .permissionDenied,
                "permission to open the socket \(path) is denied; its mode and its group decide who may open it"
            )
        case ENAMETOOLONG:
            return RPCError(.invalidArgument, "the socket's path is longer than 107 bytes: \(path)")
        case EAGAIN:
            return RPCError(.unavailable, "the daemon at \(path) has too many connections waiting: try again")
        default: return RPCError(.unavailable, "\(failure.description): \(start)")
        }
    }

    /// Chooses one error for several sockets that do not answer: that of the socket that exists but may not
    /// be opened, if there is one.
    static func error(of failures: [RPCError], paths: [String]) -> RPCError {
        let denied = failures.first { $0.code == .permissionDenied }
        if failures.count == 1 || denied != nil { return denied ?? failures[0] }
        return RPCError(
            .unavailable,
            "no daemon answers at \(paths.joined(separator: " or ")): start the daemon, or name its socket by --socket or $CLUSTERD_SOCKET"
        )
    }

    static func lost(_ why: String) -> RPCError {
        RPCError(.unavailable, "the connection to the daemon was lost: \(why)")
    }

    /// The text of a system error number.
    static func describe(_ number: Int32) -> String { String(cString: strerror(number)) }
}
