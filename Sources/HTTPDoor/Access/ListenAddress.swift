// SPDX-License-Identifier: MIT

/// An address on which the interface listens: `HOST:PORT`, `[V6]:PORT`, `PORT` on loopback, or `unix:PATH`.
public enum ListenAddress: Sendable, Hashable {
    /// A host's name or address, without brackets.
    case tcp(host: String, port: UInt16)
    case unix(path: String)

    /// Why a text is not an address, in words for a person.
    public struct Problem: Error, Sendable, CustomStringConvertible {
        public let description: String
    }

    public init(_ text: String) throws(Problem) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst("unix:".count))
            guard !path.isEmpty else { throw Problem(description: "\"\(text)\" has no path after unix:") }
            self = .unix(path: path)
            return
        }
        if let port = UInt16(text) {
            self = .tcp(host: "127.0.0.1", port: port)
            return
        }
        guard let name = HostName(text), let port = name.port else {
            throw Problem(
                description: "\"\(text)\" is not HOST:PORT, [V6]:PORT, PORT or unix:PATH"
            )
        }
        let host = name.name.hasPrefix("[") ? String(name.name.dropFirst().dropLast()) : name.name
        self = .tcp(host: host, port: port)
    }
}

extension ListenAddress: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tcp(let host, let port):
            host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}
