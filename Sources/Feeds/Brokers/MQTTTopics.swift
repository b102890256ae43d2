// SPDX-License-Identifier: MIT
import CMosquitto
import Glibc

/// The topics of an MQTT filter, in a persistent session with QoS 1. MQTT has no positions: the broker sends again what
/// was not acknowledged, and a message is acknowledged once the daemon has applied it.
///
/// The library queues the acknowledgement before it hands over the message. With `mosquitto_threaded_set` it leaves
/// writing to its user, and this object writes only once everything received was applied.
final class MQTTTopics: Broker, @unchecked Sendable {
    // Only the feed's one thread for its broker uses it.
    let log: String
    let hasPositions = false
    private let address: BrokerAddress
    private let client: String
    private var session: OpaquePointer?
    private var received: [BrokerMessage] = []
    private var isConnected = false
    private var refusal: Int32 = 0
    /// Whether received messages are not acknowledged yet.
    private var owes = false
    private var count = 0
    private let start = time(nil)

    private static let keepAlive: Int32 = 60
    private static let library: Int32 = mosquitto_lib_init()

    /// - Parameter client: the client id, which names the session.
    init(_ address: BrokerAddress, log: String, client: String) {
        (self.address, self.log, self.client) = (address, log, client)
    }

    deinit { stop() }

    func start(after position: String?, resetsToEarliest: Bool) throws(BrokerError) {
        try connect(client, isClean: false)
    }

    private func connect(_ client: String, isClean: Bool) throws(BrokerError) {
        stop()
        _ = Self.library
        let this = Unmanaged.passUnretained(self).toOpaque()
        guard let session = mosquitto_new(client, isClean, this) else { throw .unusable("the client id is unusable") }
        self.session = session
        _ = mosquitto_threaded_set(session, true)
        mosquitto_connect_callback_set(session) { _, this, code in
            guard let this else { return }
            Unmanaged<MQTTTopics>.fromOpaque(this).takeUnretainedValue().connected(code)
        }
        mosquitto_message_callback_set(session) { _, this, message in
            guard let this, let message else { return }
            Unmanaged<MQTTTopics>.fromOpaque(this).takeUnretainedValue().take(message.pointee)
        }
        if let user = address.user { _ = mosquitto_username_pw_set(session, user, address.password) }
        let what = "no connection to MQTT at \(address.endpoint)"
        try check(mosquitto_connect(session, address.host, Int32(address.port), Self.keepAlive), what)
        try write()
        for _ in 0..<50 where !isConnected && refusal == 0 { try read(one: true) }
        guard refusal == 0 else {
            throw .unavailable("\(what): \(mosquitto_connack_string(refusal).map { String(cString: $0) } ?? "refused")")
        }
        guard isConnected else { throw .unavailable("\(what): no answer") }
        // Nothing but this is queued.
        try check(mosquitto_subscribe(session, nil, address.path, 1), "the topic filter \(address.path)")
        try write()
    }

    private func connected(_ code: Int32) {
        if code == 0 { isConnected = true } else { refusal = code }
    }

    private func take(_ message: mosquitto_message) {
        count += 1
        let topic = message.topic.map { String(cString: $0) } ?? ""
        let body =
            message.payload.map { Array(UnsafeRawBufferPointer(start: $0, count: Int(message.payloadlen))) } ?? []
        received.append(
            BrokerMessage(
                position: "\(start)-\(count)", key: topic.split(separator: "/").last.map(String.init), body: body))
    }

    /// Reads what has arrived within a tenth of a second.
    private func read(one: Bool = false) throws(BrokerError) {
        guard let session else { throw .unavailable("there is no connection to MQTT") }
        var poll = pollfd(fd: mosquitto_socket(session), events: Int16(POLLIN), revents: 0)
        guard poll.fd >= 0 else { throw .unavailable("MQTT at \(address.endpoint) has closed the connection") }
        var patience: Int32 = 100
        repeat {
            guard Glibc.poll(&poll, 1, patience) > 0 else { return }
            try check(mosquitto_loop_read(session, 1), "MQTT at \(address.endpoint) has closed the connection")
            patience = 0
        } while !one && received.count < Self.mostMessages && mosquitto_socket(session) == poll.fd
    }

    private static let mostMessages = 1000

    private func write() throws(BrokerError) {
        while let session, mosquitto_want_write(session) {
            var poll = pollfd(fd: mosquitto_socket(session), events: Int16(POLLOUT), revents: 0)
            guard poll.fd >= 0, Glibc.poll(&poll, 1, 5000) > 0 else {
                throw .unavailable("MQTT at \(address.endpoint) takes nothing")
            }
            try check(mosquitto_loop_write(session, 1), "MQTT at \(address.endpoint) has closed the connection")
        }
    }

    func receive() throws(BrokerError) -> [BrokerMessage]? {
        if !owes {
            try check(mosquitto_loop_misc(session), "MQTT at \(address.endpoint)")
            try write()
        }
        try read()
        defer { received = [] }
        if !received.isEmpty { owes = true }
        return received
    }

    func appliedAll() throws(BrokerError) {
        owes = false
        try write()
    }

    func stop() {
        guard let session else { return }
        if !owes { _ = mosquitto_disconnect(session) }
        if !owes { try? write() }
        mosquitto_destroy(session)
        self.session = nil
        (isConnected, refusal, owes, received) = (false, 0, false, [])
    }

    func peek(seconds: Int) throws(BrokerError) -> [BrokerMessage] {
        try connect("\(client)-check-\(getpid())", isClean: true)
        defer { stop() }
        var found: [BrokerMessage] = []
        for _ in 0..<10 * seconds where found.count < Peeking.most {
            found += try receive() ?? []
            try appliedAll()
        }
        return Array(found.prefix(Peeking.most))
    }

    private func check(_ status: Int32, _ what: String) throws(BrokerError) {
        guard status != MOSQ_ERR_SUCCESS.rawValue else { return }
        throw .unavailable("\(what): \(mosquitto_strerror(status).map { String(cString: $0) } ?? "\(status)")")
    }
}
