// SPDX-License-Identifier: MIT
import CLibuv
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
        length = socklen_t(isAbstract ? MemoryLayout<sa_family_t>.size + bytes.count : MemoryLayout<sockaddr_un>.size)
        withUnsafeMutableBytes(of: &address.sun_path) { target in
            target.copyBytes(from: bytes)
            if isAbstract { target[0] = 0 }
        }
    }

    /// Calls bind(2).
    public func bind(_ descriptor: Int32) -> Int32 { withAddress { Glibc.bind(descriptor, $0, $1) } }

    /// Calls connect(2).
    public func connect(_ descriptor: Int32) -> Int32 { withAddress { Glibc.connect(descriptor, $0, $1) } }

    /// Sends a datagram from a new socket (sendto(2)) without waiting; false, with `errno`, if it was not accepted.
    public func send(_ text: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        return withAddress { sendto(descriptor, bytes, bytes.count, flags, $0, $1) } == bytes.count
    }

    private func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
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

/// An IPv4 or IPv6 address with its port.
///
/// Invariant: `storage` contains an address of `length` bytes as made by the system.
public struct InternetAddress: Sendable, CustomStringConvertible {
    private var storage: sockaddr_storage
    private let length: socklen_t

    /// Returns the addresses of a host, given by number or name (getaddrinfo(3)). Resolving names may take
    /// long, so do not call it on a loop that serves.
    public static func resolve(host: String, port: UInt16) throws(EventLoopError) -> [InternetAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard status == 0 else {
            throw EventLoopError(number: ENOENT, action: "find the address of \(host)")
        }
        var addresses: [InternetAddress] = []
        var next = list
        while let entry = next?.pointee {
            if let address = InternetAddress(entry.ai_addr, entry.ai_addrlen) { addresses.append(address) }
            next = entry.ai_next
        }
        return addresses
    }

    fileprivate init?(_ address: UnsafePointer<sockaddr>?, _ length: socklen_t) {
        guard let address, Int(length) <= MemoryLayout<sockaddr_storage>.size,
            [sa_family_t(AF_INET), sa_family_t(AF_INET6)].contains(address.pointee.sa_family)
        else { return nil }
        storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(length)))
        }
        self.length = length
    }

    /// The address that a socket is bound to; nil for a socket of another family.
    public init?(ofSocket descriptor: Int32) { self.init(descriptor, getsockname) }

    /// The peer's address of a connected socket.
    init?(ofPeer descriptor: Int32) { self.init(descriptor, getpeername) }

    private init?(
        _ descriptor: Int32, _ ask: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let address = withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                ask(descriptor, address, &length) == 0 ? InternetAddress(address, length) : nil
            }
        }
        guard let address else { return nil }
        self = address
    }

    public var isIPv6: Bool { storage.ss_family == sa_family_t(AF_INET6) }

    public var port: UInt16 {
        withUnsafeBytes(of: storage) {
            // In both families the port follows the family.
            UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
    }

    /// Whether it stands for all addresses of the machine.
    public var isWildcard: Bool { bytes.allSatisfy { $0 == 0 } }

    /// Whether it can be reached only from this machine.
    public var isLoopback: Bool {
        guard isIPv6 else { return bytes.first == 127 }
        let mapped = bytes.prefix(12).elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
        return mapped ? bytes[12] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    private var bytes: [UInt8] {
        withUnsafeBytes(of: storage) { Array(isIPv6 ? $0[8..<24] : $0[4..<8]) }
    }

    /// The numeric address without its port; for IPv6 without brackets.
    public var host: String {
        withUnsafeBytes(of: storage) { raw in
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            let source = raw.baseAddress.map { $0 + (isIPv6 ? 8 : 4) }
            guard let source,
                inet_ntop(Int32(storage.ss_family), source, &text, socklen_t(text.count)) != nil
            else { return "" }
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// Such as `127.0.0.1:80` or `[::1]:80`.
    public var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Makes a socket that is bound to this address and not listening yet.
    func bindSocket() throws(EventLoopError) -> Int32 {
        let action = "listen on \(description)"
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(Int32(storage.ss_family), kind, 0)
        guard descriptor >= 0 else { throw EventLoopError(number: errno, action: action) }
        var one: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, size)
        if isIPv6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, size) }
        let status = withUnsafePointer(to: storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard status == 0 else {
            let number = errno
            close(descriptor)
            throw EventLoopError(number: number, action: action)
        }
        return descriptor
    }
}
