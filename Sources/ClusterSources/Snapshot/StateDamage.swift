// SPDX-License-Identifier: MIT

/// Why a file of the state directory is not what was written, for a person.
struct StateDamage: Error, Sendable, Equatable {
    let message: String

    init(_ message: String) { self.message = message }
}
