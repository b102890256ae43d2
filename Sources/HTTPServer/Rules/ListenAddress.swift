// SPDX-License-Identifier: MIT
import EventLoop

/// An address on which the interface listens: `HOST:PORT`, `[V6]:PORT`, `PORT` on loopback, or `unix:PATH`, which
/// `,mode=0660` may follow.
public enum ListenAddress: Sendable, Hashable {
    /// A host's name or address, without brackets.
    case tcp(host: String, port: UInt16)
    /// - Parameter mode: who may connect; nil: as `socketMode` says.
    case unix(path: String, mode: UInt32?)

    /// Why a text is not an address, in words for a person.
    public struct Problem: Error, Sendable, CustomStringConvertible { public let description: String }

    public init(_ text: String) throws(Problem) {
        if text.hasPrefix("unix:") {
            self = try Self.unix(text)
            return
        }
        if let port = UInt16(text) {
            self = .tcp(host: "127.0.0.1", port: port)
            return
        }
        guard let name = HostName(text), let port = name.port else {
            throw Problem(
                description: "\"\(text)\" is not HOST:PORT, [V6]:PORT, PORT, unix:PATH or unix:PATH,mode=0660")
        }
        let host = name.name.hasPrefix("[") ? String(name.name.dropFirst().dropLast()) : name.name
        self = .tcp(host: host, port: port)
    }

    private static func unix(_ text: String) throws(Problem) -> ListenAddress {
        var path = text.dropFirst("unix:".count)
        var mode: UInt32?
        if let comma = path.lastIndex(of: ","), path[comma...].hasPrefix(",mode=") {
            mode = SocketMode.mode(path[comma...].dropFirst(",mode=".count))
            guard mode != nil else {
                throw Problem(
                    description: "\"\(text)\" has a mode that is none of \(SocketMode.names.joined(separator: ", "))")
            }
            path = path[..<comma]
        }
        guard !path.isEmpty else { throw Problem(description: "\"\(text)\" has no path after unix:") }
        return .unix(path: String(path), mode: mode)
    }
}

extension ListenAddress: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tcp(let host, let port):
            host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)"
        case .unix(let path, _): "unix:\(path)"
        }
    }
}
