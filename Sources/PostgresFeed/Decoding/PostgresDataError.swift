// SPDX-License-Identifier: MIT

/// Why bytes from the server could not be read.
public struct PostgresDataError: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
