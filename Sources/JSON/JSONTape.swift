// SPDX-License-Identifier: MIT
import CSimdjson
import Glibc

/// The values of a text that a `JSONParser` has read; valid only while the parser lends it.
///
/// Invariant: `entries` are a complete tape as written by the shim, and every range in it lies within `text`.
public struct JSONTape {
    let text: UnsafeRawBufferPointer
    let entries: UnsafeBufferPointer<csj_entry>
    /// Whether any string contains a lone surrogate.
    public let hasLoneSurrogates: Bool

    public var root: JSONElement { JSONElement(tape: self, index: 0) }
}
