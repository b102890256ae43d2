// SPDX-License-Identifier: MIT
import Aggregates
import Expressions
import GeoJSON
import JSON
import Synchronization
import SystemSupport

/// The properties that a source's expressions read, decoded once.
package struct SourceColumns: Sendable {
    package private(set) var columns: FeatureColumns

    /// - Parameters:
    ///   - known: columns that are already decoded. Those of other names, or of another number of rows, are ignored.
    ///   - claim: grows with the memory that the columns take; nil if that is not counted here.
    /// - Throws: `tooLarge` if the claim may not grow.
    /// - Complexity: O(the properties' text) if any column is missing.
    package init(
        _ store: FeatureStore, reading names: Set<String>, from known: SourceColumns? = nil, threads: Int,
        claim: MemoryClaim? = nil, _ cancellation: Cancellation
    ) throws(SourceError) {
        columns = FeatureColumns(count: store.count)
        if let known, known.columns.count == store.count {
            for name in names { if let column = known.columns.column(name) { columns.add(name, column) } }
        }
        try read(names, of: store, threads: threads, claim, cancellation)
    }

    /// Columns of some of a store's features, renumbered in this order.
    package init(
        _ store: FeatureStore, rows: [UInt32], reading names: Set<String>, _ cancellation: Cancellation
    ) throws(SourceError) {
        columns = FeatureColumns(count: rows.count)
        let names = names.sorted()
        let cells = names.map { _ in PropertyCells(count: rows.count) }
        let reader = RowReader(names, cells, rows: rows.indices)
        let scan = FeatureScan(store)
        for (index, row) in rows.enumerated() {
            if index & 0x3fff == 0 { try cancellation.stopIfCancelled() }
            scan.withProperties(Int(row)) { reader.read($0) }
        }
        try cancellation.stopIfCancelled()
        for (name, part) in zip(names, reader.finish()) {
            if let column = PropertyColumn([part]) { columns.add(name, column) }
        }
    }

    package var memoryBytes: Int { columns.memoryBytes }

    /// The columns of some names.
    package func keeping(_ names: Set<String>) -> SourceColumns {
        var kept = self
        kept.columns = FeatureColumns(count: columns.count)
        for name in names { if let column = columns.column(name) { kept.columns.add(name, column) } }
        return kept
    }

    package func has(_ name: String) -> Bool { columns.column(name) != nil }

    /// These columns together with others of the same rows.
    package func adding(_ more: [String: PropertyColumn]) -> SourceColumns {
        var all = self
        for (name, column) in more { all.columns.add(name, column) }
        return all
    }

    private mutating func read(
        _ names: Set<String>, of store: FeatureStore, threads: Int, _ claim: MemoryClaim?, _ cancellation: Cancellation
    ) throws(SourceError) {
        let missing = names.filter { columns.column($0) == nil }.sorted()
        guard !missing.isEmpty else { return }
        let growth = ColumnGrowth(claim, rows: missing.count * store.count)
        try growth.add(0)
        let parts = Self.parts(of: store.count)
        let cells = missing.map { _ in PropertyCells(count: store.count) }
        let read = Mutex<[Int: [PropertyColumnWriter]]>([:])
        Parallel(.shared, threads: threads).forEach(below: parts.count) { part in
            let columns = Self.read(missing, cells, parts[part], of: store, growth, cancellation)
            read.withLock { $0[part] = columns }
        }
        try growth.check()
        try cancellation.stopIfCancelled()
        let written = read.withLock { read in parts.indices.map { read[$0] ?? [] } }
        let joined = Mutex<[Int: PropertyColumn]>([:])
        Parallel(.shared, threads: threads).forEach(below: missing.count) { index in
            let column = PropertyColumn(written.map { $0[index] }) { cancellation.isCancelled }
            joined.withLock { $0[index] = column }
        }
        try cancellation.stopIfCancelled()
        joined.withLock { joined in
            for (index, name) in missing.enumerated() {
                if let column = joined[index] { columns.add(name, column) }
            }
        }
    }

    /// Ranges of rows for one thread each. Small stores are read by one thread. More parts would balance the load
    /// better, but the tables of different strings must be merged part by part.
    private static func parts(of count: Int) -> [Range<Int>] {
        let parts = count < 20_000 ? 1 : count < 100_000 ? 2 : 4
        let size = (count + parts - 1) / parts
        return (0..<parts).map { min(count, $0 * size)..<min(count, ($0 + 1) * size) }
    }

    /// Reads some rows. If cancelled, or if the columns may not grow further, it stops early.
    private static func read(
        _ names: [String], _ cells: [PropertyCells], _ rows: Range<Int>, of store: FeatureStore,
        _ growth: ColumnGrowth, _ cancellation: Cancellation
    ) -> [PropertyColumnWriter] {
        let reader = RowReader(names, cells, rows: rows)
        let scan = FeatureScan(store)
        var (seen, counted) = (0, 0)
        for row in rows {
            if row & 0x3fff == 0 || seen >= ColumnGrowth.step {
                if cancellation.isCancelled { break }
                let bytes = reader.valueBytes
                guard (try? growth.add(bytes - counted)) != nil else { break }
                (seen, counted) = (0, bytes)
            }
            scan.withProperties(row) { text in
                seen &+= text.count
                reader.read(text)
            }
        }
        try? growth.add(reader.valueBytes - counted)
        return reader.finish()
    }
}

/// Counts the memory of columns while several threads fill them. Safe from any thread.
final class ColumnGrowth: Sendable {
    private let claim: MemoryClaim?
    private let cellBytes: Int
    private let state = Mutex<(valueBytes: Int, refusal: SourceError?)>((0, nil))

    /// After so many bytes of features' text the strings of the columns are counted again.
    static let step = 1 << 20

    /// - Parameters:
    ///   - claim: nil if nothing is counted.
    ///   - rows: of all columns together.
    init(_ claim: MemoryClaim?, rows: Int) {
        self.claim = claim
        cellBytes = rows * PropertyCells.bytesOfRow
    }

    /// Counts bytes of strings and other values. Throws if there is no room, then and from then on.
    func add(_ more: Int) throws(SourceError) {
        guard let claim else { return }
        let result = state.withLock { state -> Result<Void, SourceError> in
            if let refusal = state.refusal { return .failure(refusal) }
            state.valueBytes += more
            return Result { () throws(SourceError) in
                // The values of the parts are joined in the end, so they exist twice.
                try claim.grow(to: cellBytes + 2 * state.valueBytes)
            }.mapError { refusal in
                state.refusal = refusal
                return refusal
            }
        }
        try result.get()
    }

    /// Throws if there was no room.
    func check() throws(SourceError) {
        if let refusal = state.withLock({ $0.refusal }) { throw refusal }
    }
}
