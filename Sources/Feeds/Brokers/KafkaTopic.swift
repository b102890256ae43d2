// SPDX-License-Identifier: MIT
import CKafka
import Glibc

/// A topic of Kafka; the position is `partition:offset,…` of the last messages applied.
final class KafkaTopic: Broker, @unchecked Sendable {
    // Only the feed's one thread for its broker uses it.
    let log: String
    let hasPositions = true
    private let address: BrokerAddress
    private let topic: String
    private var consumer: OpaquePointer?
    /// By partition: the offset of the last message.
    private var offsets: [Int32: Int64] = [:]

    private static let mostMessages = 1000
    /// How long to wait for answers about the topic, in milliseconds.
    private static let patience: Int32 = 10_000
    /// The most bytes of a position.
    private static let longestPosition = 1024

    init(_ address: BrokerAddress, log: String) { (self.address, self.log, topic) = (address, log, address.path) }

    deinit { stop() }

    /// The offsets of a position; nil if it is none.
    static func offsets(_ position: String) -> [Int32: Int64]? {
        var offsets: [Int32: Int64] = [:]
        for part in position.split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.split(separator: ":", omittingEmptySubsequences: false)
            guard pair.count == 2, let partition = Int32(pair[0]), partition >= 0, let offset = Int64(pair[1]),
                offset >= 0, offset < .max
            else { return nil }
            offsets[partition] = offset
        }
        return offsets
    }

    static func position(_ offsets: [Int32: Int64]) -> String {
        offsets.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
    }

    func start(after position: String?, resetsToEarliest: Bool) throws(BrokerError) {
        stop()
        offsets = [:]
        if let position {
            guard let known = Self.offsets(position) else {
                throw .unusable("the source's position \"\(position)\" of the log \"\(log)\" is none of Kafka")
            }
            offsets = known
        }
        try connect()
        let partitions = try partitions()
        guard let list = rd_kafka_topic_partition_list_new(Int32(partitions.count)) else {
            throw .unavailable("no memory")
        }
        defer { rd_kafka_topic_partition_list_destroy(list) }
        for partition in partitions {
            let entry = rd_kafka_topic_partition_list_add(list, topic, partition)
            entry?.pointee.offset = try next(partition, resetsToEarliest)
        }
        try check(rd_kafka_assign(consumer, list), "the topic \(topic) can't be read")
    }

    private func connect() throws(BrokerError) {
        guard let configuration = rd_kafka_conf_new() else { throw .unavailable("no memory") }
        for (name, value) in [
            ("bootstrap.servers", address.endpoint), ("group.id", "clusterd-feed"), ("enable.auto.commit", "false"),
            ("enable.auto.offset.store", "false"), ("auto.offset.reset", "error"), ("log_level", "0"),
            ("socket.timeout.ms", "10000"), ("client.id", "clusterd-feed"), ("fetch.wait.max.ms", "50"),
        ] {
            _ = rd_kafka_conf_set(configuration, name, value, nil, 0)
        }
        var text = [CChar](repeating: 0, count: 512)
        guard let made = rd_kafka_new(RD_KAFKA_CONSUMER, configuration, &text, text.count) else {
            rd_kafka_conf_destroy(configuration)
            throw .unusable("Kafka's library refuses: \(Self.text(text))")
        }
        consumer = made
        _ = rd_kafka_poll_set_consumer(made)
    }

    private static func text(_ buffer: [CChar]) -> String {
        String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func partitions() throws(BrokerError) -> [Int32] {
        guard let handle = rd_kafka_topic_new(consumer, topic, nil) else { throw .unusable("no topic \(topic)") }
        defer { rd_kafka_topic_destroy(handle) }
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let what = "no connection to Kafka at \(address.endpoint)"
        try check(rd_kafka_metadata(consumer, 0, handle, &metadata, Self.patience), what)
        defer { rd_kafka_metadata_destroy(metadata) }
        guard let found = metadata?.pointee, found.topic_cnt > 0, let topic = found.topics?.pointee else { return [] }
        try check(topic.err, "the topic \(self.topic)")
        guard topic.partition_cnt > 0 else { throw .unavailable("the topic \(self.topic) has no partitions") }
        return (0..<Int(topic.partition_cnt)).map { topic.partitions[$0].id }
    }

    /// The offset with which a partition continues.
    private func next(_ partition: Int32, _ resetsToEarliest: Bool) throws(BrokerError) -> Int64 {
        guard let offset = offsets[partition] else { return Int64(RD_KAFKA_OFFSET_BEGINNING) }
        var (low, high): (Int64, Int64) = (0, 0)
        try check(
            rd_kafka_query_watermark_offsets(consumer, topic, partition, &low, &high, Self.patience),
            "the offsets of partition \(partition)")
        if offset + 1 < low || offset >= high {
            guard resetsToEarliest else {
                throw .gone(
                    "partition \(partition) of \(topic) has the offsets \(low) to \(high - 1), and the source continues after "
                        + "\(offset): --reset earliest begins with the first")
            }
            offsets[partition] = nil
            return Int64(RD_KAFKA_OFFSET_BEGINNING)
        }
        return offset + 1
    }

    func receive() throws(BrokerError) -> [BrokerMessage]? {
        var messages: [BrokerMessage] = []
        while messages.count < Self.mostMessages {
            guard let message = rd_kafka_consumer_poll(consumer, messages.isEmpty ? 100 : 0) else { break }
            defer { rd_kafka_message_destroy(message) }
            let found = message.pointee
            if found.err == RD_KAFKA_RESP_ERR__PARTITION_EOF { continue }
            if found.err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET {
                throw .gone("an offset of \(topic) is no longer there: --reset earliest begins with the first")
            }
            try check(found.err, "no messages of the topic \(topic)")
            offsets[found.partition] = found.offset
            let position = Self.position(offsets)
            guard position.utf8.count <= Self.longestPosition else {
                throw .unusable("the topic \(topic) has too many partitions: their offsets take more than 1,024 bytes")
            }
            let key = found.key.map { UnsafeRawBufferPointer(start: $0, count: found.key_len) }
            let body = found.payload.map { Array(UnsafeRawBufferPointer(start: $0, count: found.len)) } ?? []
            messages.append(
                BrokerMessage(position: position, key: key.map { String(decoding: $0, as: UTF8.self) }, body: body))
        }
        return messages
    }

    func appliedAll() {}

    func stop() {
        guard let consumer else { return }
        _ = rd_kafka_consumer_close(consumer)
        rd_kafka_destroy(consumer)
        self.consumer = nil
    }

    func peek(seconds: Int) throws(BrokerError) -> [BrokerMessage] {
        try start(after: nil, resetsToEarliest: false)
        defer { stop() }
        var found: [BrokerMessage] = []
        for _ in 0..<10 * seconds where found.count < Peeking.most { found += try receive() ?? [] }
        return Array(found.prefix(Peeking.most))
    }

    private func check(_ error: rd_kafka_resp_err_t, _ what: String) throws(BrokerError) {
        guard error != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        throw .unavailable("\(what): \(rd_kafka_err2str(error).map { String(cString: $0) } ?? "\(error.rawValue)")")
    }
}
