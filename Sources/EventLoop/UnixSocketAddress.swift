// SPDX-License-Identifier: MIT
import Glibc

/// A Unix socket's address in the system's form.
public struct UnixSocketAddress {
    private var address = sockaddr_un()
    private let length: socklen_t

    /// - Parameter allowsAbstract: whether a path that begins with `@` denotes a socket in the abstract
    ///   namespace, which has no file and therefore no permissions.
    /// - Returns: nil if the path is empty or longer than 107 bytes.
    public init?(path: String, allowsAbstract: Bool = false) {
        let bytes = Array(path.utf8)
        guard let first = bytes.first, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            return nil
        }
        address.sun_family = sa_family_t(AF_UNIX)
        let isAbstract = allowsAbstract && first == UInt8(ascii: "@")
        // An abstract name ends at the length, not at a zero byte.
        length = socklen_t(
            isAbstract
                ? MemoryLayout<sa_family_t>.size + bytes.count : MemoryLayout<sockaddr_un>.size)
        withUnsafeMutableBytes(of: &address.sun_path) { target in
            target.copyBytes(from: bytes)
            if isAbstract { target[0] = 0 }
        }
    }

    /// Calls bind(2).
    public func bind(_ descriptor: Int32) -> Int32 { withAddress { Glibc.bind(descriptor, $0, $1) } }

    /// Calls connect(2).
    public func connect(_ descriptor: Int32) -> Int32 { withAddress { Glibc.connect(descriptor, $0, $1) } }

    /// Sends a datagram from a new socket (sendto(2)); false if it was not accepted.
    public func send(_ text: String, waits: Bool) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let flags = Int32(MSG_NOSIGNAL | (waits ? 0 : MSG_DONTWAIT))
        return withAddress { sendto(descriptor, bytes, bytes.count, flags, $0, $1) } == bytes.count
    }

    private func withAddress<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}

/// The permissions that a socket can have, as the configuration names them.
public enum SocketMode {
    public static let names = ["0600", "0660", "0666"]

    /// The mode with a name; nil if there is none.
    public static func mode(_ name: some StringProtocol) -> UInt32? {
        names.contains { $0 == name } ? UInt32(name, radix: 8) : nil
    }
}
