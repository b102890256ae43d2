// SPDX-License-Identifier: MIT

/// An expression's error message, with the number of points or clusters that had it.
package struct PropertyError: Sendable, Equatable {
    package let message: String
    package let count: Int
}
