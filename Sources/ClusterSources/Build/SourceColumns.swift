// SPDX-License-Identifier: MIT
import Dispatch
import Expressions
import GeoJSON
import JSON
import Synchronization

/// The properties that a source's expressions read, decoded once.
struct SourceColumns: Sendable {
    private(set) var columns: FeatureColumns

    /// - Complexity: O(the properties' text).
    init(
        _ store: FeatureStore, reading names: Set<String>, _ cancellation: Cancellation
    ) throws(SourceError) {
        columns = FeatureColumns(count: store.count)
        try read(names, of: store, cancellation)
    }

    var memoryBytes: Int { columns.memoryBytes }

    /// These columns and those that are missing of `names`.
    func including(
        _ names: Set<String>, of store: FeatureStore, _ cancellation: Cancellation
    ) throws(SourceError) -> SourceColumns {
        var more = self
        try more.read(names, of: store, cancellation)
        return more
    }

    private mutating func read(
        _ names: Set<String>, of store: FeatureStore, _ cancellation: Cancellation
    ) throws(SourceError) {
        let missing = names.filter { columns.column($0) == nil }.sorted()
        guard !missing.isEmpty else { return }
        let parts = Self.parts(of: store.count)
        let read = Mutex<[Int: [PropertyColumn]]>([:])
        DispatchQueue.concurrentPerform(iterations: parts.count) { part in
            let columns = Self.read(missing, parts[part], of: store, cancellation)
            read.withLock { $0[part] = columns }
        }
        try cancellation.stopIfCancelled()
        let pieces = read.withLock { read in parts.indices.map { read[$0] ?? [] } }
        for (place, name) in missing.enumerated() { columns.add(name, Self.joined(pieces.map { $0[place] })) }
    }

    /// Rows for each thread: small stores are read by one.
    private static func parts(of count: Int) -> [Range<Int>] {
        let threads = count < 20_000 ? 1 : 2
        let size = (count + threads - 1) / threads
        return (0..<threads).map { min(count, $0 * size)..<min(count, ($0 + 1) * size) }
    }

    private static func joined(_ columns: [PropertyColumn]) -> PropertyColumn {
        guard columns.count != 1 else { return columns[0] }
        let builder = PropertyColumnBuilder(capacity: columns.reduce(0) { $0 + $1.count })
        for column in columns { builder.append(column) }
        return builder.finish()
    }

    /// The columns of some rows; where that was cancelled they are too short.
    private static func read(
        _ names: [String], _ rows: Range<Int>, of store: FeatureStore, _ cancellation: Cancellation
    ) -> [PropertyColumn] {
        let readers = names.map { ColumnReader($0, capacity: rows.count) }
        for row in rows {
            if row & 0x3fff == 0, cancellation.isCancelled { break }
            store.withProperties(row) { read($0, readers) }
        }
        return readers.map { $0.builder.finish() }
    }

    private static func read(_ properties: UnsafeRawBufferPointer, _ readers: [ColumnReader]) {
        if properties.first == UInt8(ascii: "{") {
            for (key, value) in JSONMembers(ofValidated: properties) {
                for reader in readers where reader.isNamed(key) { reader.value = value }
            }
        }
        for reader in readers { reader.endRow() }
    }
}

/// Fills one column. For one thread at a time.
private final class ColumnReader {
    let builder: PropertyColumnBuilder
    /// The text of the row's value, the last where the name comes twice; nil where it has none.
    @exclusivity(unchecked) var value: UnsafeRawBufferPointer?
    private let name: [UInt8]

    init(_ name: String, capacity: Int) {
        self.name = Array(name.utf8)
        builder = PropertyColumnBuilder(capacity: capacity)
    }

    /// - Parameter key: a member's name as written.
    func isNamed(_ key: UnsafeRawBufferPointer) -> Bool {
        if key.count == name.count, key.elementsEqual(name) { return true }
        guard key.count > name.count, key.contains(UInt8(ascii: "\\")) else { return false }
        return JSONText.string(inside: key).utf8.elementsEqual(name)
    }

    func endRow() {
        defer { value = nil }
        guard let value, let first = value.first else { return builder.appendMissing() }
        switch first {
        case UInt8(ascii: "n"): builder.appendNull()
        case UInt8(ascii: "t"): builder.append(true)
        case UInt8(ascii: "f"): builder.append(false)
        case UInt8(ascii: "\""): appendString(UnsafeRawBufferPointer(rebasing: value.dropFirst().dropLast()))
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            builder.append((try? JSONReader.parse(value)) ?? .null)
        default: builder.append(JSONText.number(value) ?? .nan)
        }
    }

    private func appendString(_ inside: UnsafeRawBufferPointer) {
        guard inside.contains(UInt8(ascii: "\\")) else { return builder.append(utf8: inside) }
        builder.append(JSONValue.string(JSONText.string(inside: inside)))
    }
}
