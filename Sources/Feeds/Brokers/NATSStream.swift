// SPDX-License-Identifier: MIT
import CNATS

/// A stream of NATS JetStream; the position is its sequence. Its consumer lives in memory of the server, which forgets
/// it soon after the feed has gone.
///
/// Messages are asked for by the feed itself, over an ordinary subscription. `natsSubscription_Fetch` writes beyond its
/// list (libnats 3.4) if messages of an earlier request still arrive.
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
    /// Where the answers of requests arrive, before a request's number.
    private var inbox = ""
    private var consumer: String?
    /// The last message's sequence in the stream, and its number among those of the consumer.
    private var last: UInt64 = 0
    private var lastDelivered: UInt64 = 0
    private var request = Request()
    private var received = ContinuousClock.now

    /// A request for messages: the server sends some, and says so if these are all.
    private struct Request {
        var number = 0
        /// How many of its messages have not arrived.
        var outstanding = 0
        /// When an answer is overdue.
        var deadline = ContinuousClock.now
    }

    /// After which the server removes the consumer of a feed that has gone, in nanoseconds.
    private static let inactiveThreshold: Int64 = 20_000_000_000
    /// For how long the server may keep a request, and how much later its answer is overdue.
    private static let expiry = Duration.seconds(5)
    private static let grace = Duration.seconds(5)
    /// The most messages and bytes of a request. A message of NATS has 64 MiB at most.
    private static let batchSize = 4096
    private static let mostBytes = 65 << 20
    /// The most messages that are received at once.
    private static let mostMessages = 1000

    init(_ address: BrokerAddress, log: String) {
        (self.address, self.log, stream) = (address, log, address.path)
        subject = address.query["subject"] ?? ">"
    }

    deinit { stop() }

    func start(after position: String?, resetsToEarliest: Bool) throws(BrokerError) {
        stop()
        try connect()
        let (first, last, _) = try state()
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

    /// The first and the last sequence of the stream, and its subjects.
    private func state() throws(BrokerError) -> (first: UInt64, last: UInt64, subjects: [String]) {
        var info: UnsafeMutablePointer<jsStreamInfo>?
        var code = jsErrCode(rawValue: 0)
        let status = js_GetStreamInfo(&info, jetStream, stream, nil, &code)
        defer { jsStreamInfo_Destroy(info) }
        if status == NATS_NOT_FOUND { throw .unavailable("there is no stream \(stream) at \(address.endpoint)") }
        try check(status, "the stream \(stream) can't be read")
        guard let info = info?.pointee, let configuration = info.Config?.pointee else {
            throw .unavailable("the stream \(stream) has no state")
        }
        let subjects = (0..<Int(configuration.SubjectsLen)).compactMap { index in
            configuration.Subjects[index].map { String(cString: $0) }
        }
        return (info.State.FirstSeq, info.State.LastSeq, subjects)
    }

    /// Makes a consumer that begins after the last message, and where its messages arrive.
    private func subscribe() throws(BrokerError) {
        var name: UnsafeMutablePointer<CChar>?
        try check(natsInbox_Create(&name), "no memory")
        defer { natsInbox_Destroy(name) }
        inbox = name.map { String(cString: $0) } ?? ""
        try check(natsConnection_SubscribeSync(&subscription, connection, inbox + ".*"), "no subscription")
        // A request bounds what arrives.
        try check(natsSubscription_SetPendingLimits(subscription, -1, -1), "no subscription")
        var configuration = jsConsumerConfig()
        jsConsumerConfig_Init(&configuration)
        configuration.DeliverPolicy = js_DeliverByStartSequence
        configuration.OptStartSeq = last + 1
        configuration.AckPolicy = js_AckNone
        configuration.InactiveThreshold = Self.inactiveThreshold
        configuration.MemoryStorage = true
        configuration.Replicas = 1
        var info: UnsafeMutablePointer<jsConsumerInfo>?
        defer { jsConsumerInfo_Destroy(info) }
        var code = jsErrCode(rawValue: 0)
        // A server looks for the messages of a filter one by one. So it gets none that every message passes.
        let subjects = try state().subjects
        let passesAll = !subjects.isEmpty && subjects.allSatisfy { Self.matches($0, subject) }
        let status = subject.withCString { filter in
            if !passesAll { configuration.FilterSubject = filter }
            return js_AddConsumer(&info, jetStream, stream, &configuration, nil, &code)
        }
        try check(status, "no consumer of the stream \(stream) for \(subject)")
        consumer = info?.pointee.Name.map { String(cString: $0) }
        (lastDelivered, request, received) = (0, Request(), .now)
    }

    func receive() throws(BrokerError) -> [BrokerMessage]? {
        guard connection != nil else { throw .unavailable("there is no connection to NATS") }
        // The server may have forgotten the consumer.
        if ContinuousClock.now - received > .seconds(10) {
            stop()
            try connect()
            try subscribe()
        }
        received = .now
        try ask()
        var messages: [BrokerMessage] = []
        while messages.count < Self.mostMessages, request.outstanding > 0 {
            var message: OpaquePointer?
            let status = natsSubscription_NextMsg(&message, subscription, messages.isEmpty ? 100 : 0)
            defer { natsMsg_Destroy(message) }
            if status == NATS_TIMEOUT {
                guard natsConnection_IsClosed(connection) else { break }
                throw .unavailable("NATS at \(address.endpoint) has closed the connection")
            }
            try check(status, "no messages of the stream \(stream)")
            if let message, let received = try take(message) { messages.append(received) }
        }
        return messages
    }

    /// Asks for messages if none are under way.
    private func ask() throws(BrokerError) {
        guard request.outstanding == 0 else {
            guard ContinuousClock.now > request.deadline else { return }
            throw .unavailable("NATS at \(address.endpoint) does not answer")
        }
        request = Request(
            number: request.number + 1, outstanding: Self.batchSize, deadline: .now + Self.expiry + Self.grace)
        let text =
            "{\"batch\":\(Self.batchSize),\"max_bytes\":\(Self.mostBytes),"
            + "\"expires\":\(Int(Self.expiry / .nanoseconds(1)))}"
        try check(
            natsConnection_PublishRequestString(
                connection, "$JS.API.CONSUMER.MSG.NEXT.\(stream).\(consumer ?? "")", "\(inbox).\(request.number)", text),
            "no messages of the stream \(stream)")
    }

    /// - Returns: nil if it is none of the stream: the server says that a request is over.
    private func take(_ message: OpaquePointer) throws(BrokerError) -> BrokerMessage? {
        var value: UnsafePointer<CChar>?
        if natsMsg_GetReply(message) == nil, natsMsgHeader_Get(message, "Status", &value) == NATS_OK {
            try end(message, status: value.map { String(cString: $0) } ?? "")
            return nil
        }
        var metadata: UnsafeMutablePointer<jsMsgMetaData>?
        try check(natsMsg_GetMetaData(&metadata, message), "a message without a sequence")
        defer { jsMsgMetaData_Destroy(metadata) }
        guard let sequence = metadata?.pointee.Sequence else { return nil }
        // Nothing is sent twice, so one that is lost on the way has to be asked for again.
        guard sequence.Consumer == lastDelivered + 1 else {
            throw .unavailable("a message of the stream \(stream) was lost")
        }
        (last, lastDelivered) = (sequence.Stream, sequence.Consumer)
        request.outstanding -= 1
        request.deadline = .now + Self.expiry + Self.grace
        return self.message(message, sequence.Stream)
    }

    /// Ends a request, by the server's status: nothing came, or all that it was for.
    private func end(_ message: OpaquePointer, status: String) throws(BrokerError) {
        guard natsMsg_GetSubject(message).map({ String(cString: $0) }) == "\(inbox).\(request.number)" else { return }
        var value: UnsafePointer<CChar>?
        _ = natsMsgHeader_Get(message, "Description", &value)
        let description = value.map { String(cString: $0) } ?? status
        guard ["404", "408"].contains(status) || description.contains("MaxBytes") else {
            throw .unavailable("no messages of the stream \(stream): \(description)")
        }
        request.outstanding = 0
    }

    /// - Returns: nil if the message has another subject than those that are followed.
    private func message(_ message: OpaquePointer, _ sequence: UInt64) -> BrokerMessage? {
        let name = natsMsg_GetSubject(message).map { String(cString: $0) } ?? ""
        guard Self.matches(name, subject) else { return nil }
        return BrokerMessage(
            position: "\(sequence)", key: name.split(separator: ".").last.map(String.init),
            body: Self.body(natsMsg_GetData(message), Int(natsMsg_GetDataLength(message))))
    }

    private static func body(_ data: UnsafePointer<CChar>?, _ count: Int) -> [UInt8] {
        guard let data, count > 0 else { return [] }
        return Array(UnsafeRawBufferPointer(start: data, count: count))
    }

    func appliedAll() {}

    func stop() {
        if let consumer, let jetStream, !natsConnection_IsClosed(connection) {
            var options = jsOptions()
            jsOptions_Init(&options)
            // In milliseconds. The server forgets it by itself, later.
            options.Wait = 1000
            var code = jsErrCode(rawValue: 0)
            _ = js_DeleteConsumer(jetStream, stream, consumer, &options, &code)
        }
        // Ends the library's reader, which may be about to add a message to the subscription.
        if let connection { natsConnection_Close(connection) }
        natsSubscription_Destroy(subscription)
        jsCtx_Destroy(jetStream)
        natsConnection_Destroy(connection)
        (subscription, jetStream, connection, consumer) = (nil, nil, nil, nil)
    }

    /// Reads messages by their sequences, without a consumer.
    func peek(seconds: Int) throws(BrokerError) -> [BrokerMessage] {
        try connect()
        defer { stop() }
        let (first, last, _) = try state()
        var messages: [BrokerMessage] = []
        guard last > 0, first <= last else { return [] }
        for sequence in first...min(last, first + 99) where messages.count < Peeking.most {
            var message: OpaquePointer?
            var code = jsErrCode(rawValue: 0)
            guard js_GetMsg(&message, jetStream, stream, sequence, nil, &code) == NATS_OK, let message else { continue }
            defer { natsMsg_Destroy(message) }
            if let found = self.message(message, sequence) { messages.append(found) }
        }
        return messages
    }

    /// Whether a subject matches a pattern with `*` for one part and `>` for the rest. If the subject is such a pattern
    /// itself, all that match it have to match the other.
    static func matches(_ subject: String, _ pattern: String) -> Bool {
        let (parts, patternParts) = (subject.split(separator: "."), pattern.split(separator: "."))
        for (index, patternPart) in patternParts.enumerated() {
            if patternPart == ">" { return parts.count > index }
            guard index < parts.count, parts[index] != ">", patternPart == "*" || patternPart == parts[index] else {
                return false
            }
        }
        return parts.count == patternParts.count
    }

    private func check(_ status: natsStatus, _ what: String) throws(BrokerError) {
        guard status != NATS_OK else { return }
        throw .unavailable("\(what): \(natsStatus_GetText(status).map { String(cString: $0) } ?? "\(status.rawValue)")")
    }
}
