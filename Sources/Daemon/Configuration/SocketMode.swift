// SPDX-License-Identifier: MIT

/// The permissions that a socket can have, as the configuration names them.
enum SocketMode {
    static let names = ["0600", "0660", "0666"]

    /// The mode with a name; nil if there is none.
    static func mode(_ name: String) -> UInt32? { names.contains(name) ? UInt32(name, radix: 8) : nil }
}
