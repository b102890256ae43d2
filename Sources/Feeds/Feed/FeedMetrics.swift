// SPDX-License-Identifier: MIT
import Dispatch
import Glibc
import Synchronization

/// What a feed counts. Safe from any thread.
package final class FeedMetrics: Sendable {
    enum End: String, CaseIterable, Sendable {
        case broker
        case daemon
    }

    private struct State {
        var messages = 0
        var rejected: [RejectReason: Int] = [:]
        var connected: Set<End> = []
    }

    private let state = Mutex(State())
    private let lag = Mutex<(@Sendable () -> Duration)?>(nil)

    package init() {}

    func count(messages: Int) { state.withLock { $0.messages += messages } }

    /// Returns whether it is the first of this reason.
    func count(_ reason: RejectReason) -> Bool {
        state.withLock { state in
            state.rejected[reason, default: 0] += 1
            return state.rejected[reason] == 1
        }
    }

    func set(_ end: End, isConnected: Bool) {
        state.withLock { state in
            if isConnected { state.connected.insert(end) } else { state.connected.remove(end) }
        }
    }

    func measureLag(_ body: @escaping @Sendable () -> Duration) { lag.withLock { $0 = body } }

    /// Prometheus's text format (version 0.0.4).
    package var text: String {
        let state = state.withLock { $0 }
        let lag = (lag.withLock { $0 }?() ?? .zero) / .milliseconds(1)
        func family(_ name: String, _ kind: String, _ help: String, _ samples: [String]) -> String {
            "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n" + samples.map { "\(name)\($0)\n" }.joined()
        }
        return family(
            "clusterd_feed_messages_total", "counter", "Messages received.", [" \(state.messages)"])
            + family(
                "clusterd_feed_rejected_total", "counter", "Messages and features left out, by reason.",
                RejectReason.allCases.map { "{reason=\"\($0.rawValue)\"} \(state.rejected[$0] ?? 0)" })
            + family(
                "clusterd_feed_connected", "gauge", "Whether an end is connected.",
                End.allCases.map { "{end=\"\($0.rawValue)\"} \(state.connected.contains($0) ? 1 : 0)" })
            + family(
                "clusterd_feed_lag_ms", "gauge", "How long the oldest message that is not applied has waited.",
                [" \(Int(lag))"])
    }
}

/// Serves metrics over HTTP, one request at a time.
final class MetricsServer: Sendable {
    private let descriptor: Int32
    private let metrics: FeedMetrics

    /// - Parameter address: `HOST:PORT`, or `PORT` on loopback.
    init(_ address: String, _ metrics: FeedMetrics) throws(FeedSettings.Problem) {
        self.metrics = metrics
        let problem = FeedSettings.Problem(message: "--metrics \(address): HOST:PORT was expected")
        let colon = address.lastIndex(of: ":")
        var host = colon.map { String(address[..<$0]) } ?? "127.0.0.1"
        let port = colon.map { String(address[address.index(after: $0)...]) } ?? address
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard let number = UInt16(port) else { throw problem }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host.isEmpty ? nil : host, "\(number)", &hints, &found) == 0, let info = found else {
            throw problem
        }
        defer { freeaddrinfo(found) }
        let socket = socket(info.pointee.ai_family, info.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard socket >= 0, bind(socket, info.pointee.ai_addr, info.pointee.ai_addrlen) == 0, listen(socket, 16) == 0
        else {
            let reason = String(cString: strerror(errno))
            close(socket)
            throw FeedSettings.Problem(message: "--metrics \(address): \(reason)")
        }
        descriptor = socket
    }

    func run() {
        let thread = DispatchQueue(label: "clusterd-feed.metrics")
        thread.async { [self] in
            while true {
                let client = accept(descriptor, nil, nil)
                if client < 0 {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    return
                }
                answer(client)
                close(client)
            }
        }
    }

    private func answer(_ client: Int32) {
        // A client that sends or reads nothing must not keep the next one waiting for long.
        var patience = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var head: [UInt8] = []
        while head.count < 8192, !String(decoding: head, as: UTF8.self).contains("\r\n\r\n") {
            var bytes = [UInt8](repeating: 0, count: 1024)
            let count = recv(client, &bytes, bytes.count, 0)
            guard count > 0 else { return }
            head += bytes[..<count]
        }
        let words = String(decoding: head, as: UTF8.self).prefix { $0 != "\r\n" }.split(separator: " ")
        let isFound =
            words.count > 1 && words[0] == "GET" && (words[1] == "/metrics" || words[1].hasPrefix("/metrics?"))
        let body = isFound ? metrics.text : "The metrics are at /metrics.\n"
        let type = isFound ? "text/plain; version=0.0.4; charset=utf-8" : "text/plain; charset=utf-8"
        let text =
            "HTTP/1.1 \(isFound ? "200 OK" : "404 Not Found")\r\nContent-Type: \(type)\r\n"
            + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }
}
