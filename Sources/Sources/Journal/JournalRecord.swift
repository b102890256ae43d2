// SPDX-License-Identifier: MIT
import Aggregates
import GeoJSON
import JSON
import SourceStorage
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
    }

    package var isProgress: Bool {
        if case .progress = self { true } else { false }
    }

    package static func update(
        upserts: UnsafeRawBufferPointer?, removals: [FeatureIdentifier]
    ) -> JournalRecord {
        var ids = ByteWriter()
        ids.append("[")
        for (place, id) in removals.enumerated() {
            if place > 0 { ids.append(",") }
            id.write(into: &ids)
        }
        ids.append("]")
        return .update(upserts: upserts.map { Array($0) } ?? Array("[]".utf8), removals: ids.bytes)
    }

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

    package func payload(
        at moment: Timestamp, revision: UInt64, mark: LogMark? = nil
    ) -> [UInt8] {
        var text = ByteWriter()
        text.append("{\"time\":")
        text.append(integer: moment.milliseconds)
        text.append(",\"revision\":")
        text.append(integer: revision)
        if let mark {
            text.append(",\"position\":")
            text.append(json: mark.position.description)
            text.append(",\"mark\":")
            text.append(json: mark.text)
        }
        switch self {
        case .update(let upserts, let removals):
            text.append(",\"upsert\":")
            text.append(contentsOf: upserts)
            text.append(",\"remove\":")
            text.append(contentsOf: removals)
        case .append(let features):
            text.append(",\"append\":")
            text.append(contentsOf: features)
        case .options(let options):
            text.append(",\"options\":")
            text.append(options)
        case .expiry(let limit):
            text.append(",\"expiry\":")
            text.append(integer: limit)
        case .refill(let features):
            text.append(",\"refill\":")
            text.append(contentsOf: features)
        case .progress: break
        }
        text.append("}")
        return text.bytes
    }

}

extension JournalRecord.Entry: StoredRecord {
    /// Reads what `payload` wrote.
    package init?(payload: UnsafeRawBufferPointer) {
        guard payload.first == UInt8(ascii: "{"), payload.last == UInt8(ascii: "}") else { return nil }
        var parts: [String: UnsafeRawBufferPointer] = [:]
        for (key, value) in JSONMembers(ofValidated: payload) {
            parts[JSONText.string(inside: key)] = value
        }
        func integer(_ name: String) -> Int64? {
            parts[name].flatMap { JSONText.number($0) }.flatMap { Int64(exactly: $0) }
        }
        guard let time = integer("time"), let revision = integer("revision"), revision >= 0 else {
            return nil
        }
        func string(_ name: String) -> String? {
            parts[name].map {
                JSONText.string(inside: UnsafeRawBufferPointer(rebasing: $0.dropFirst().dropLast()))
            }
        }
        var mark: LogMark?
        if let text = string("position") {
            guard let position = LogPosition(text), let text = string("mark") else { return nil }
            mark = LogMark(position: position, text: text)
        }
        let record: JournalRecord
        if let upserts = parts["upsert"], let removals = parts["remove"] {
            record = .update(upserts: Array(upserts), removals: Array(removals))
        } else if let features = parts["append"] {
            record = .append(Array(features))
        } else if let text = parts["options"], let options = try? JSONReader.parse(text) {
            record = .options(options)
        } else if let limit = integer("expiry") {
            record = .expiry(limit)
        } else if let features = parts["refill"] {
            record = .refill(Array(features))
        } else if mark != nil {
            record = .progress
        } else {
            return nil
        }
        self.init(
            record: record, moment: Timestamp(milliseconds: time), revision: UInt64(revision),
            mark: mark)
    }
}
