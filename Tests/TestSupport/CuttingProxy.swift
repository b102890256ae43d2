// SPDX-License-Identifier: MIT
import Foundation
import Synchronization

/// Stands between a client and a server on Unix sockets, passes bytes on in small pieces, and cuts connections after a
/// number of bytes. Its thread ends with this object.
public final class CuttingProxy: Sendable {
    /// Where clients connect to.
    public let path: String
    private let listener: Int32
    private let state: Mutex<State>
    private let wakeUp: (read: Int32, write: Int32)

    private struct State {
        /// Bytes of the server that the next connections pass on before they are cut, one entry for each connection.
        var cuts: [Int] = []
        var pieceBytes: Int
        var isHolding = false
        var isOver = false
        var passed = 0
        var connections = 0
    }

    /// - Parameters:
    ///   - path: the socket that is made.
    ///   - server: the socket of the server.
    ///   - pieceBytes: how many bytes are passed on at a time.
    ///   - cuts: after how many bytes from the server the first connections are cut; later ones are not.
    public init(path: String, server: String, pieceBytes: Int = 1 << 16, cuts: [Int] = []) throws {
        self.path = path
        state = Mutex(State(cuts: cuts, pieceBytes: pieceBytes))
        listener = try Self.socket(path) { bind($0, $1, $2) }
        listen(listener, 16)
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        wakeUp = (ends[0], ends[1])
        let thread = Thread { [listener, state = StateReference(self), read = ends[0]] in
            Self.run(listener, read, server, state)
        }
        thread.start()
    }

    private struct StateReference: @unchecked Sendable {
        // The thread holds the proxy weakly: it ends with it.
        weak var proxy: CuttingProxy?
        init(_ proxy: CuttingProxy) { self.proxy = proxy }
    }

    /// Bytes of the server that were passed on over all connections.
    public var passed: Int { state.withLock { $0.passed } }
    public var connections: Int { state.withLock { $0.connections } }

    /// Stops passing bytes on, without closing anything, until it is set to false.
    public var isHolding: Bool {
        get { state.withLock { $0.isHolding } }
        set {
            state.withLock { $0.isHolding = newValue }
            write(wakeUp.write, "x", 1)
        }
    }

    deinit {
        write(wakeUp.write, "q", 1)
        unlink(path)
    }

    private struct Pair {
        let client: Int32
        let server: Int32
        var cut: Int
    }

    private static func socket(
        _ path: String, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws -> Int32 {
        let number = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else {
            close(number)
            throw DaemonProcess.Failure(description: "\(path): \(String(cString: strerror(errno)))")
        }
        return number
    }

    private static func run(_ listener: Int32, _ wakeUp: Int32, _ server: String, _ state: StateReference) {
        var pairs: [Pair] = []
        defer {
            for number in pairs.flatMap({ [$0.client, $0.server] }) + [listener, wakeUp] { close(number) }
        }
        while true {
            let isHolding = state.proxy?.isHolding ?? false
            var polls = [listener, wakeUp].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            if !isHolding {
                polls += pairs.flatMap { [$0.client, $0.server] }.map {
                    pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
                }
            }
            guard poll(&polls, nfds_t(polls.count), -1) > 0 else { continue }
            if polls[1].revents != 0 {
                var byte: UInt8 = 0
                guard read(wakeUp, &byte, 1) == 1, byte == UInt8(ascii: "x") else { return }
                continue
            }
            if polls[0].revents != 0 {
                let client = accept(listener, nil, nil)
                guard let target = try? socket(server, { connect($0, $1, $2) }) else {
                    close(client)
                    continue
                }
                pairs.append(Pair(client: client, server: target, cut: state.proxy?.nextCut() ?? 0))
                continue
            }
            var dead: Set<Int32> = []
            for ready in polls.dropFirst(2) where ready.revents != 0 {
                guard let index = pairs.firstIndex(where: { $0.client == ready.fd || $0.server == ready.fd }),
                    let proxy = state.proxy
                else { continue }
                if !proxy.pass(from: ready.fd, &pairs[index]) { dead.insert(pairs[index].client) }
            }
            for pair in pairs where dead.contains(pair.client) {
                close(pair.client)
                close(pair.server)
            }
            pairs.removeAll { dead.contains($0.client) }
        }
    }

    private func nextCut() -> Int {
        state.withLock { state in
            state.connections += 1
            return state.cuts.isEmpty ? .max : state.cuts.removeFirst()
        }
    }

    /// Passes one piece on; false if the connection is over.
    private func pass(from number: Int32, _ pair: inout Pair) -> Bool {
        let isServer = number == pair.server
        let most = state.withLock { isServer ? min($0.pieceBytes, pair.cut) : $0.pieceBytes }
        guard most > 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: most)
        let count = read(number, &bytes, most)
        guard count > 0 else { return false }
        var done = 0
        while done < count {
            let sent = bytes[done..<count].withUnsafeBytes {
                send(isServer ? pair.client : pair.server, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return false }
            done += sent
        }
        if isServer {
            if pair.cut != .max { pair.cut -= count }
            state.withLock { $0.passed += count }
        }
        return pair.cut > 0
    }
}
