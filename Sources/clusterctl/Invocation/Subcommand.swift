// SPDX-License-Identifier: MIT
import ClusterProtocol
import CommandLineOptions
import JSON

/// A subcommand: its declaration, and what it does.
protocol Subcommand: Sendable {
    static var table: Command { get }
    /// Whether its answers can contain features, which `--output geojson` prints.
    static var hasFeatures: Bool { get }
    static func run(_ invocation: Invocation) async throws
}

extension Subcommand {
    static var hasFeatures: Bool { false }
}

/// A subcommand that calls one method, with the params of its operands and flags, and shows the answer.
protocol MethodSubcommand: Subcommand {
    static var method: MethodDeclaration { get }
    /// Shows the answer for people.
    static func show(_ answer: JSONValue, _ invocation: Invocation) throws
}

extension MethodSubcommand {
    static func run(_ invocation: Invocation) async throws {
        try invocation.show(try await invocation.call(method)) { try show($0, invocation) }
    }
}

/// Operands that several commands share.
extension Operand {
    static let source = Operand(
        "SOURCE", kind: .dynamic("sources"), help: "the source's name; in queries also SOURCE:VIEW, one of its views")
    static let cluster = Operand(
        "CLUSTER", kind: .integer(0...(1 << 53)), help: "the cluster's id, as 'clusters' shows it")
}
