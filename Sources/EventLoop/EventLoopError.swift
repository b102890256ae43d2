// SPDX-License-Identifier: MIT
import CLibuv

/// A failed system operation, and what it was for.
public struct EventLoopError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The system's error number, positive.
    public let number: Int32
    public let action: String

    /// A message for a person.
    public var description: String {
        "cannot \(action): " + String(cString: uv_strerror(-number))
    }

    static func check(_ status: Int32, _ action: String) throws(EventLoopError) {
        if status < 0 { throw EventLoopError(number: -status, action: action) }
    }
}
