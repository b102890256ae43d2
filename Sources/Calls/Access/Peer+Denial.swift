// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

extension Peer {
    /// The error for this caller, who lacks the right that a method needs.
    package func denial(of method: MethodDeclaration) -> RPCError {
        let right = method.right.name
        let member = rightMember ?? "access.\(right)"
        return RPCError(
            .permissionDenied,
            "\(method.shortName) needs the right \"\(right)\", which \(lacking). Whoever runs clusterd grants it in the configuration, under \(member).",
            details: ["right": .string(right)])
    }

    /// The clause of messages that says who lacks the right. All callers over TCP have the same right.
    var lacking: String { hasUser ? "your user does not have" : "callers over TCP do not have" }
}
