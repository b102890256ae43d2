// SPDX-License-Identifier: MIT
import CommandLineOptions

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

/// Operands that several commands share.
extension Operand {
    static let source = Operand("SOURCE", kind: .dynamic("sources"), help: "the source's name")
    static let cluster = Operand(
        "CLUSTER", kind: .integer(0...(1 << 53)), help: "the cluster's id, as 'clusters' shows it")
}
