// SPDX-License-Identifier: MIT
import Glibc

/// A file that cannot be read.
public struct FeatureInputError: Error, Sendable, Equatable, CustomStringConvertible {
    public let name: String
    /// The system's error number.
    public let number: Int32

    public init(name: String, number: Int32) {
        self.name = name
        self.number = number
    }

    public var description: String { "\(name): \(String(cString: strerror(number)))" }
}
