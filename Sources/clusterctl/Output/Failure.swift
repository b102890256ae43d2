// SPDX-License-Identifier: MIT
import ClusterProtocol

/// The program's exit statuses for scripts.
enum ExitStatus {
    static let failed: Int32 = 1
    /// There is no such source, cluster or feature.
    static let notFound: Int32 = 3
    /// No daemon answers.
    static let unavailable: Int32 = 4
    /// The daemon rejected the request: it is not allowed, not valid, or not possible in its present state.
    static let refused: Int32 = 5

    static func of(_ error: any Error) -> Int32 {
        guard let error = error as? RPCError else { return failed }
        return switch error.code {
        case .notFound: notFound
        case .unavailable: unavailable
        case .permissionDenied, .unauthenticated, .invalidArgument, .alreadyExists, .failedPrecondition,
            .aborted, .outOfRange, .resourceExhausted, .unimplemented:
            refused
        default: failed
        }
    }

    /// The section of the help and the manual.
    static let help =
        "The exit status is 0 if it is done, 2 if the command line is invalid, 3 if there is no such source, cluster or "
        + "feature, 4 if no daemon answers, 5 if the daemon refuses, and 1 for everything else."
}

/// A command that has failed. The message is empty if the output already says why.
struct Failure: Error {
    let message: String
    /// Lines to show before the message, such as an expression with a part underlined.
    var picture: String?
    var status = ExitStatus.failed
}
