// SPDX-License-Identifier: MIT
import GeoJSON
import ImageStore
import JSON
import SystemSupport

/// One change of a source as stored in a journal: the content of the call, as a JSON object.
package enum JournalRecord: Sendable {
    /// Arrays of features and of ids, as text.
    case update(upserts: [UInt8], removals: [UInt8])
    /// Features of an import that appended, as a text.
    case append([UInt8])
    case options(JSONValue)
    /// Features inserted at this moment or earlier expired. Milliseconds since 1970.
    case expiry(Int64)
    /// All features were replaced by those of a JSON array.
    case refill([UInt8])
    /// Only the log's position changed.
    case progress

    /// A record with the moment and the revision of the change.
    package struct Entry: Sendable {
        package let record: JournalRecord
        package let moment: Timestamp
        /// The number of the revision that the change produced.
        package let revision: UInt64
        /// The mark that the data had reached; nil if the change did not come from a log.
        package let mark: LogMark?
        /// The name of that log; nil for a table's.
        package let feed: String?
    }

    /// The kinds of records, in the order in which a payload is examined. A kind's name is the member of the payload
    /// that only it has; every record of a log has a mark.
    enum Kind: String, CaseIterable {
        case update = "upsert"
        case append, options, expiry, refill
        case progress = "mark"
    }

    var kind: Kind {
        switch self {
        case .update: .update
        case .append: .append
        case .options: .options
        case .expiry: .expiry
        case .refill: .refill
        case .progress: .progress
        }
    }

    package var isProgress: Bool {
        if case .progress = self { true } else { false }
    }

    package static func update(upserts: [UInt8], removals: [FeatureIdentifier]) -> JournalRecord {
        var ids = ByteWriter()
        ids.append("[")
        for (index, id) in removals.enumerated() {
            if index > 0 { ids.append(",") }
            id.write(into: &ids)
        }
        ids.append("]")
        return .update(upserts: upserts, removals: ids.bytes)
    }

    static let emptyList = Array("[]".utf8)

    package static func append(_ slices: [FeatureSlice]) -> JournalRecord {
        var text = ByteWriter()
        text.append("[")
        var isFirst = true
        for slice in slices {
            for row in slice.rows {
                if !isFirst { text.append(",") }
                isFirst = false
                slice.store.writeSent(row, into: &text)
            }
        }
        text.append("]")
        return .append(text.bytes)
    }

    package func payload(at moment: Timestamp, revision: UInt64, log: FollowedLog? = nil) -> [UInt8] {
        var head = ByteWriter()
        head.append("{\"time\":")
        head.append(integer: moment.milliseconds)
        head.append(",\"revision\":")
        head.append(integer: revision)
        if let log {
            head.append(",\"position\":")
            head.append(json: log.mark.position)
            head.append(",\"mark\":")
            head.append(json: log.mark.text)
            if let feed = log.origin.feed {
                head.append(",\"log\":")
                head.append(json: feed)
            }
        }
        if kind != .progress {
            head.append(",")
            head.append(json: kind.rawValue)
            head.append(":")
        }
        // Texts of many features are copied once.
        var texts: [[UInt8]] = []
        switch self {
        case .update(let upserts, let removals): texts = [upserts, Array(",\"remove\":".utf8), removals]
        case .append(let features), .refill(let features): texts = [features]
        case .options(let options): head.append(options)
        case .expiry(let limit): head.append(integer: limit)
        case .progress: break
        }
        var payload: [UInt8] = []
        payload.reserveCapacity(texts.reduce(head.count + 1) { $0 + $1.count })
        payload += head.bytes
        for text in texts { payload += text }
        payload.append(UInt8(ascii: "}"))
        return payload
    }
}

extension JournalRecord.Entry: StoredRecord {
    /// Reads what `payload` wrote.
    package init?(payload: ArraySlice<UInt8>) {
        guard payload.last == UInt8(ascii: "}"), let parts = JSONText.members(ofValidated: payload) else {
            return nil
        }
        func value(_ name: String) -> JSONValue? {
            parts[Array(name.utf8)].flatMap { try? JSONReader.parse($0) }
        }
        func integer(_ name: String) -> Int64? {
            guard case .number(let number)? = value(name) else { return nil }
            return Int64(exactly: number)
        }
        guard let time = integer("time"), let revision = integer("revision"), revision >= 0 else {
            return nil
        }
        func string(_ name: String) -> String? {
            if case .string(let text)? = value(name) { text } else { nil }
        }
        var mark: LogMark?
        if let position = string("position") {
            guard let text = string("mark") else { return nil }
            mark = LogMark(position: position, text: text)
        }
        guard let record = JournalRecord(parts) else { return nil }
        self.init(
            record: record, moment: Timestamp(milliseconds: time), revision: UInt64(revision), mark: mark,
            feed: string("log"))
    }
}

extension JournalRecord {
    /// Reads the members of a payload that only its kind of record has. Nil if they are of no kind.
    private init?(_ parts: [[UInt8]: [UInt8]]) {
        guard let kind = Kind.allCases.first(where: { parts[Array($0.rawValue.utf8)] != nil }),
            let content = parts[Array(kind.rawValue.utf8)]
        else { return nil }
        switch kind {
        case .update:
            guard let removals = parts[Array("remove".utf8)] else { return nil }
            self = .update(upserts: content, removals: removals)
        case .append: self = .append(content)
        case .options:
            guard let options = try? JSONReader.parse(content) else { return nil }
            self = .options(options)
        case .expiry:
            guard case .number(let number)? = try? JSONReader.parse(content),
                let limit = Int64(exactly: number)
            else { return nil }
            self = .expiry(limit)
        case .refill: self = .refill(content)
        case .progress: self = .progress
        }
    }
}
