// SPDX-License-Identifier: MIT

/// Why a benchmark cannot run, in words for its user.
public struct BenchError: Error, CustomStringConvertible {
    let message: String

    public var description: String { message }
}
