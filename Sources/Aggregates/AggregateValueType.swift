// SPDX-License-Identifier: MIT

/// The type of an aggregate's values in vector tiles, where arrays and objects are strings.
package enum AggregateValueType: Sendable {
    case number, boolean, string
    /// Values of several types.
    case mixed
}
