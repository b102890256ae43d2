// SPDX-License-Identifier: MIT

/// Why a benchmark cannot run, as a message for its user.
public struct BenchError: Error, CustomStringConvertible {
    let message: String

    public var description: String { message }
}
