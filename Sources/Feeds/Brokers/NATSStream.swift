// SPDX-License-Identifier: MIT
import CNATS

/// A stream of NATS JetStream; the position is its sequence. Its consumer lives in memory of the server, which forgets
/// it soon after the feed has gone.
final class NATSStream: Broker, @unchecked Sendable {
    // Only the feed's one thread for its broker uses it.
    let log: String
    let hasPositions = true
    private let address: BrokerAddress
    private let stream: String
    private let subject: String
    private var connection: OpaquePointer?
    private var jetStream: OpaquePointer?
    private var subscription: OpaquePointer?
    /// The sequence of the last message, and when messages were last asked for.
    private var last: UInt64 = 0
    private var asked = ContinuousClock.now

    /// After which the server removes the consumer of a feed that has gone, in nanoseconds.
    private static let inactiveThreshold: Int64 = 20_000_000_000
    private static let mostMessages: Int32 = 1000

    init(_ address: BrokerAddress, log: String) {
        (self.address, self.log, stream) = (address, log, address.path)
        subject = address.query["subject"] ?? ">"
    }

    deinit { stop() }

    func start(after position: String?, resetsToEarliest: Bool) throws(BrokerError) {
        stop()
        try connect()
        let (first, last) = try state()
        var next = first
        if let position {
            guard let sequence = UInt64(position), sequence < UInt64.max else {
                throw .unusable("the source's position \"\(position)\" of the log \"\(log)\" is no sequence of NATS")
            }
            next = sequence + 1
            if next < first || sequence > last {
                guard resetsToEarliest else {
                    throw .gone(
                        "the stream \(stream) has messages \(first) to \(last), and the source continues after \(position): "
                            + "--reset earliest begins with the first")
                }
                next = first
            }
        }
        self.last = max(1, next) - 1
        try subscribe()
    }

    private func connect() throws(BrokerError) {
        var options: OpaquePointer?
        try check(natsOptions_Create(&options), "no memory")
        defer { natsOptions_Destroy(options) }
        try check(natsOptions_SetURL(options, "nats://\(address.endpoint)"), "the address")
        // The feed itself tries again, and says so.
        _ = natsOptions_SetAllowReconnect(options, false)
        _ = natsOptions_SetTimeout(options, 5000)
        _ = natsOptions_SetPingInterval(options, 5000)
        if let user = address.user { _ = natsOptions_SetUserInfo(options, user, address.password ?? "") }
        try check(natsConnection_Connect(&connection, options), "no connection to NATS at \(address.endpoint)")
        try check(natsConnection_JetStream(&jetStream, connection, nil), "no JetStream")
    }

    /// The first and the last sequence of the stream.
    private func state() throws(BrokerError) -> (first: UInt64, last: UInt64) {
        var info: UnsafeMutablePointer<jsStreamInfo>?
        var code = jsErrCode(rawValue: 0)
        let status = js_GetStreamInfo(&info, jetStream, stream, nil, &code)
        defer { jsStreamInfo_Destroy(info) }
        if status == NATS_NOT_FOUND { throw .unavailable("there is no stream \(stream) at \(address.endpoint)") }
        try check(status, "the stream \(stream) can't be read")
        guard let state = info?.pointee.State else { throw .unavailable("the stream \(stream) has no state") }
        return (state.FirstSeq, state.LastSeq)
    }

    /// Makes a consumer that begins after the last message.
    private func subscribe() throws(BrokerError) {
        if let subscription {
            natsSubscription_Unsubscribe(subscription)
            natsSubscription_Destroy(subscription)
            self.subscription = nil
        }
        asked = .now
        var options = jsSubOptions()
        jsSubOptions_Init(&options)
        options.Config.DeliverPolicy = js_DeliverByStartSequence
        options.Config.OptStartSeq = last + 1
        options.Config.AckPolicy = js_AckNone
        options.Config.InactiveThreshold = Self.inactiveThreshold
        options.Config.MemoryStorage = true
        options.Config.Replicas = 1
        var code = jsErrCode(rawValue: 0)
        let status = stream.withCString { name in
            options.Stream = name
            return js_PullSubscribe(&subscription, jetStream, subject, nil, nil, &options, &code)
        }
        try check(status, "no consumer of the stream \(stream) for \(subject)")
    }

    func receive() throws(BrokerError) -> [BrokerMessage]? {
        guard connection != nil else { throw .unavailable("there is no connection to NATS") }
        // The server may have forgotten the consumer.
        if ContinuousClock.now - asked > .seconds(10) { try subscribe() }
        asked = .now
        var list = natsMsgList()
        var code = jsErrCode(rawValue: 0)
        let status = natsSubscription_Fetch(&list, subscription, Self.mostMessages, 100, &code)
        defer { natsMsgList_Destroy(&list) }
        if status == NATS_TIMEOUT {
            guard natsConnection_IsClosed(connection) else { return [] }
            throw .unavailable("NATS at \(address.endpoint) has closed the connection")
        }
        try check(status, "no messages of the stream \(stream)")
        var messages: [BrokerMessage] = []
        for index in 0..<Int(list.Count) {
            guard let message = list.Msgs[index] else { continue }
            var metadata: UnsafeMutablePointer<jsMsgMetaData>?
            try check(natsMsg_GetMetaData(&metadata, message), "a message without a sequence")
            defer { jsMsgMetaData_Destroy(metadata) }
            guard let sequence = metadata?.pointee.Sequence.Stream else { continue }
            last = sequence
            let subject = natsMsg_GetSubject(message).map { String(cString: $0) } ?? ""
            messages.append(
                BrokerMessage(
                    position: "\(sequence)", key: subject.split(separator: ".").last.map(String.init),
                    body: Self.body(natsMsg_GetData(message), Int(natsMsg_GetDataLength(message)))))
        }
        return messages
    }

    private static func body(_ data: UnsafePointer<CChar>?, _ count: Int) -> [UInt8] {
        guard let data, count > 0 else { return [] }
        return Array(UnsafeRawBufferPointer(start: data, count: count))
    }

    func appliedAll() {}

    func stop() {
        // Deletes its consumer.
        if let subscription { natsSubscription_Unsubscribe(subscription) }
        natsSubscription_Destroy(subscription)
        jsCtx_Destroy(jetStream)
        natsConnection_Destroy(connection)
        (subscription, jetStream, connection) = (nil, nil, nil)
    }

    /// Reads messages by their sequences, without a consumer.
    func peek(seconds: Int) throws(BrokerError) -> [BrokerMessage] {
        try connect()
        defer { stop() }
        let (first, last) = try state()
        var messages: [BrokerMessage] = []
        guard last > 0, first <= last else { return [] }
        for sequence in first...min(last, first + 99) where messages.count < Peeking.most {
            var message: OpaquePointer?
            var code = jsErrCode(rawValue: 0)
            guard js_GetMsg(&message, jetStream, stream, sequence, nil, &code) == NATS_OK, let message else { continue }
            defer { natsMsg_Destroy(message) }
            let name = natsMsg_GetSubject(message).map { String(cString: $0) } ?? ""
            guard Self.matches(name, subject) else { continue }
            messages.append(
                BrokerMessage(
                    position: "\(sequence)", key: name.split(separator: ".").last.map(String.init),
                    body: Self.body(natsMsg_GetData(message), Int(natsMsg_GetDataLength(message)))))
        }
        return messages
    }

    /// Whether a subject matches a pattern with `*` for one part and `>` for the rest.
    static func matches(_ subject: String, _ pattern: String) -> Bool {
        let (parts, wanted) = (subject.split(separator: "."), pattern.split(separator: "."))
        for (index, want) in wanted.enumerated() {
            if want == ">" { return parts.count > index }
            guard index < parts.count, want == "*" || want == parts[index] else { return false }
        }
        return parts.count == wanted.count
    }

    private func check(_ status: natsStatus, _ what: String) throws(BrokerError) {
        guard status != NATS_OK else { return }
        throw .unavailable("\(what): \(natsStatus_GetText(status).map { String(cString: $0) } ?? "\(status.rawValue)")")
    }
}
