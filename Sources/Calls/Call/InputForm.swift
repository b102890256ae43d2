// SPDX-License-Identifier: MIT

/// The form of a stream from the client.
package enum InputForm: Sendable, Equatable {
    /// The protocol's items, each a JSON text.
    case items
    /// A file's bytes, cut anywhere.
    case bytes(mediaType: String)
}
