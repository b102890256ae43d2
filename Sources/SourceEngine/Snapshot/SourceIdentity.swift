// SPDX-License-Identifier: MIT
import SystemSupport

/// The properties of a source that never change.
package struct SourceIdentity: Sendable {
    package let name: SourceName
    /// The user whose limits the source counts towards; nil if none.
    package let owner: UInt32?
    package let createdAt: Timestamp
}
