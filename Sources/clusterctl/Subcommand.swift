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
