// SPDX-License-Identifier: MIT
import EventLoop
import Foundation
import ReplicationLog
import SystemSupport
import TestSupport

@testable import PostgresFeed

/// A consumer that keeps a table's features in memory, as a source would, and the loop that its feed runs on.
/// For one thread.
final class FollowedTable: TableFeedConsumer {
    let loop: EventLoop
    private(set) var feed: TableFeed!
    let configuration: TableFeedConfiguration
    /// Feature texts by the JSON text of their ids.
    private(set) var features: [String: String] = [:]
    private(set) var position: FeedPosition?
    private(set) var states: [FeedState] = []
    private(set) var copies: [String] = []
    private(set) var abandonedCopies = 0
    private(set) var transactions: [FeedTransaction] = []
    private(set) var lastCopy: CopyEnd?
    private(set) var faults: [String] = []
    /// Whether positions are confirmed as they come.
    var confirms = true
    private var gathered: [String: String]?

    struct Failure: Error, CustomStringConvertible { let description: String }

    init(
        _ configuration: TableFeedConfiguration, from position: FeedPosition? = nil,
        features: [String: String] = [:]
    )
        throws
    {
        loop = try EventLoop()
        self.configuration = configuration
        (self.features, self.position) = (features, position)
        feed = TableFeed(on: loop, configuration, consumer: self)
        feed.start(from: position)
    }

    convenience init(
        _ server: PostgresServer, _ database: String, table: String,
        _ change: (inout TableFeedConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = TableFeedConfiguration(connection: server.connection(database), table: table)
        configuration.slotScope = database
        configuration.slot = "test_" + UUID().uuidString.prefix(8).lowercased()
        change(&configuration)
        try self.init(configuration)
    }

    /// Runs the loop until a condition holds. The limit only ends tests that would hang.
    func run(_ what: String, until condition: @escaping (FollowedTable) -> Bool) throws {
        var isLate = false
        let check = Timer(on: loop, delay: 0, every: 2) { [unowned self] in if condition(self) { loop.stop() }
        }
        // Under a sanitizer, on a machine with other work, a copy has taken more than two minutes: other
        // tests' transactions, for which the server lets a new slot wait, take as long.
        let limit = Timer(on: loop, delay: 600_000) { [unowned self] in
            isLate = true
            loop.stop()
        }
        loop.run()
        withExtendedLifetime((check, limit)) {}
        if isLate {
            throw Failure(description: "\(what) did not happen; states: \(states), faults: \(faults)")
        }
    }

    /// Runs until the position of the server's end at this moment is reached.
    func catchUp(_ server: PostgresServer) throws {
        guard let end = LogPosition(try server.position()) else { throw Failure(description: "no position") }
        try run("position \(end)") { ($0.position?.log ?? LogPosition(rawValue: 0)) >= end && $0.gathered == nil }
    }

    func confirmAll() { if let position { feed.confirm(position) } }

    func stop() { feed.stop() }

    /// What a fresh copy gives at this moment.
    ///
    /// - Parameter server: connects to it directly. A proxy that waits for this table, whose loop does not
    ///   run meanwhile, would pass nothing on.
    func freshCopy(from server: PostgresServer? = nil) throws -> [String: String] {
        var configuration = configuration
        if let server { configuration.connection = server.connection(configuration.slotScope) }
        configuration.slot = "test_" + UUID().uuidString.prefix(8).lowercased()
        configuration.isTemporary = true
        let other = try FollowedTable(configuration)
        try other.run("a copy") { $0.lastCopy != nil }
        other.stop()
        return other.features
    }

    var lastFailure: String? {
        switch states.last {
        case .failed(let message)?, .waiting(let message)?: message
        default: nil
        }
    }

    var isFailed: Bool { if case .failed? = states.last { true } else { false } }

    // MARK: The consumer

    func feedStartedCopy(_ feed: TableFeed, because reason: String) {
        copies.append(reason)
        if gathered != nil { faults.append("a copy started twice") }
        gathered = [:]
    }

    func feed(_ feed: TableFeed, copied piece: CopyPiece) {
        let count = piece.read { row, known in
            let text = String(decoding: row, as: UTF8.self)
            let parts = [known.identifier, known.coordinates, known.properties].map {
                String(decoding: row[$0], as: UTF8.self)
            }
            if text
                != "{\"type\":\"Feature\",\"id\":\(parts[0]),\"geometry\":{\"type\":\"Point\",\"coordinates\":"
                + "\(parts[1])},\"properties\":\(parts[2])}"
            {
                faults.append("\(text) has other parts: \(parts)")
            }
            if gathered?.updateValue(text, forKey: Self.id(text[...])) != nil {
                faults.append("\(text) came twice")
            }
        }
        feed.take(count)
    }

    /// The text behind `"id":` up to the geometry.
    static func id(_ feature: Substring) -> String {
        let start = feature.range(of: "\"id\":")?.upperBound ?? feature.startIndex
        let end = feature.range(of: ",\"geometry\":{\"type\":\"Point\"")?.lowerBound ?? feature.endIndex
        return String(feature[start..<end])
    }

    func feedFinishedCopy(_ feed: TableFeed, _ copy: CopyEnd) {
        if gathered == nil { faults.append("no copy to finish") }
        features = gathered ?? [:]
        (gathered, lastCopy, position) = (nil, copy, copy.position)
        if confirms { feed.confirm(copy.position) }
    }

    func feedAbandonedCopy(_ feed: TableFeed) {
        if gathered == nil { faults.append("no copy to abandon") }
        gathered = nil
        abandonedCopies += 1
    }

    func feed(_ feed: TableFeed, committed transaction: FeedTransaction) {
        if gathered != nil { faults.append("a transaction during a copy") }
        if let position, transaction.position.log <= position.log {
            faults.append("\(transaction.position) after \(position)")
        }
        do { try transaction.forEach { apply($0) } } catch { faults.append("\(error)") }
        transactions.append(transaction)
        position = transaction.position
        if confirms { feed.confirm(transaction.position) }
    }

    private func apply(_ change: TableChange) {
        switch change {
        case .clear: features = [:]
        case .remove(let id): features[String(decoding: id, as: UTF8.self)] = nil
        case .put(let row):
            let id = String(decoding: row.id, as: UTF8.self)
            let previous = row.previousID.map { String(decoding: $0, as: UTF8.self) } ?? id
            var text: [UInt8]? = row.feature
            if !row.isComplete {
                let stored = features[previous] ?? ""
                let start = stored.range(of: "\"properties\":")?.upperBound ?? stored.endIndex
                text = row.feature(keepingFrom: Array(stored[start...].dropLast().utf8))
            }
            features[previous] = nil
            guard let text else { return faults.append("values of \(id) are missing") }
            features[id] = String(decoding: text, as: UTF8.self)
        }
    }

    func feed(_ feed: TableFeed, advancedTo position: FeedPosition) {
        if let old = self.position, position.log <= old.log {
            faults.append("advanced to \(position) from \(old)")
        }
        self.position = position
        if confirms { feed.confirm(position) }
    }

    /// The bytes that connections have held for large messages, in order.
    private(set) var heldBytes: [Int] = []

    func feed(_ feed: TableFeed, holds bytes: Int) {
        if bytes != heldBytes.last ?? 0 { heldBytes.append(bytes) }
    }

    func feed(_ feed: TableFeed, changedState state: FeedState) {
        if states.last == state { faults.append("\(state) was reported twice") }
        states.append(state)
    }
}
