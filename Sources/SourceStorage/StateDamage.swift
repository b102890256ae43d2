// SPDX-License-Identifier: MIT
import SystemSupport

/// Why a file of the state directory is not what was written, for a person.
package struct StateDamage: Error, Sendable, Equatable {
    package let message: String

    package init(_ message: String) { self.message = message }
}
