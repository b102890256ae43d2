// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import GeoJSON
import JSON
import Synchronization
import SystemSupport

/// A feature's key in the order of the option `sortKey`: numbers by value, then strings by their UTF-8 bytes,
/// then everything else.
package enum SortKey: Comparable, Sendable {
    case number(Double)
    case text([UInt8])
    case none

    package init(_ value: JSONValue) {
        switch value {
        // Negative zero equals zero.
        case .number(let number) where !number.isNaN: self = .number(number == 0 ? 0 : number)
        case .string(let text): self = .text(Array(text.utf8))
        default: self = .none
        }
    }

    private var kind: SortKeyColumn.Kind {
        switch self {
        case .number: .number
        case .text: .text
        case .none: .none
        }
    }

    package static func < (a: SortKey, b: SortKey) -> Bool {
        switch (a, b) {
        case (.number(let a), .number(let b)): a < b
        case (.text(let a), .text(let b)): a.lexicographicallyPrecedes(b)
        default: a.kind.rawValue < b.kind.rawValue
        }
    }
}

/// Reads features' sort keys, and sorts features by them.
package struct SortKeys {
    private let option: CompiledOption
    /// Whether the key is the feature's own id, which needs no expression.
    private let isIdentifier: Bool

    /// Below this many features a second thread costs more than it saves.
    private static let leastRows = 16_384

    package init(_ option: CompiledOption) {
        self.option = option
        isIdentifier = option.source == .array([.string("id")])
    }

    /// The key of one feature.
    package func key(of index: Int, in store: FeatureStore) throws(SourceError) -> SortKey {
        if isIdentifier {
            return store.withIdentifier(index) { text in
                text.flatMap { try? JSONReader.parse($0) }.map { SortKey($0) } ?? .none
            }
        }
        let some = FeatureStore.joining([FeatureSlice(store: store, rows: index..<index + 1)])
        return try keys(of: [0], in: some, threads: 1, .never).first ?? .none
    }

    /// The keys of some features.
    package func keys(
        of rows: [UInt32], in store: FeatureStore, with known: SourceColumns? = nil, threads: Int,
        _ cancellation: Cancellation
    ) throws(SourceError) -> [SortKey] {
        let column = try column(rows, of: store, with: known, threads: threads, cancellation)
        return rows.indices.map { column.key($0) }
    }

    /// A store's rows in the order of their features' keys. Equal keys keep the order of rows.
    ///
    /// - Complexity: O(rows); about 50 ms for a million numbers on two threads.
    package func sorted(
        _ store: FeatureStore, with known: SourceColumns? = nil, threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) -> [UInt32] {
        let rows = store.livingRows ?? Array(0..<UInt32(truncatingIfNeeded: store.count))
        let column = try column(rows, of: store, with: known, threads: threads, cancellation)
        try cancellation.stopIfCancelled()
        guard let order = column.sortedIndexes(threads: threads) else { return rows }
        return order.map { rows[Int($0)] }
    }

    private func column(
        _ rows: [UInt32], of store: FeatureStore, with known: SourceColumns?, threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) -> SortKeyColumn {
        let names = option.expression.propertyNames
        let known = known.flatMap { known in
            known.columns.count == store.count && names.allSatisfy(known.has) ? known : nil
        }
        let partCount = max(1, min(threads, rows.count / Self.leastRows))
        let parts = Parallel(.shared, threads: threads).map(below: partCount) {
            part -> Result<SortKeyColumn, SourceError> in
            let some = rows[rows.count * part / partCount..<rows.count * (part + 1) / partCount]
            if isIdentifier { return .success(Self.identifiers(some, of: store, cancellation)) }
            return Result { () throws(SourceError) in
                let some = Array(some)
                if let known {
                    let source = known.rows(some, of: store, cancellation)
                    return SortKeyColumn(try SourceColumns.values(option.expression, source))
                }
                // Columns of a part alone: joining those of all would look up each string again, on one thread.
                let source = try SourceColumns(store, rows: some, reading: names, cancellation)
                    .rows(readOf: some, of: store, cancellation)
                return SortKeyColumn(try SourceColumns.values(option.expression, source))
            }
        }
        try cancellation.stopIfCancelled()
        var found: [SortKeyColumn] = []
        for part in parts { found.append(try part.get()) }
        return SortKeyColumn(joining: found)
    }

    private static func identifiers(
        _ rows: ArraySlice<UInt32>, of store: FeatureStore, _ cancellation: Cancellation
    ) -> SortKeyColumn {
        var column = SortKeyColumn(capacity: rows.count)
        let scan = FeatureScan(store)
        for row in rows {
            if row & 0xffff == 0, cancellation.isCancelled { break }
            scan.withIdentifier(Int(row)) { text in
                guard let text else { return column.append(.none) }
                if let number = shortInteger(text) { return column.append(number) }
                if let plain = plainString(text) { return column.append(text: plain) }
                column.append((try? JSONReader.parse(text)).map { SortKey($0) } ?? .none)
            }
        }
        return column
    }

    /// The value of an unsigned integer of at most 15 digits.
    private static func shortInteger(_ text: some Collection<UInt8>) -> Double? {
        guard !text.isEmpty, text.count <= 15 else { return nil }
        var value = 0
        for byte in text {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        return Double(value)
    }

    /// The bytes of a string without escapes.
    private static func plainString<Text: BidirectionalCollection<UInt8>>(_ text: Text) -> Text.SubSequence? {
        guard text.first == UInt8(ascii: "\""), text.count >= 2, !text.contains(UInt8(ascii: "\\")) else {
            return nil
        }
        return text.dropFirst().dropLast()
    }
}

/// The sort keys of many features in compact form, and the resulting order.
struct SortKeyColumn: Sendable {
    /// Numbers sort before strings, and strings before everything else.
    enum Kind: UInt8, Sendable { case number, text, none }

    private var kinds: [Kind] = []
    /// By row, a number that orders keys of one kind as far as 8 bytes can: a string's first 8 bytes, padded with
    /// zeros.
    private var prefixes: [UInt64] = []
    /// The bytes of strings that their prefix does not contain, one after the other.
    private var bytes: [UInt8] = []
    /// By row, the range of such a string in `bytes`; empty if there is none.
    private var strings: [Range<Int>] = []

    init(capacity: Int = 0) {
        kinds.reserveCapacity(capacity)
        prefixes.reserveCapacity(capacity)
    }

    init(_ values: RowValues) {
        self.init(capacity: values.count)
        for row in 0..<values.count {
            switch values.kinds[row] {
            case .number: append(values.numbers[row])
            case .null, .error: append(.none)
            case .other:
                guard case .string(var text) = values.value(row) else {
                    append(.none)
                    continue
                }
                text.withUTF8 { append(text: $0) }
            }
        }
    }

    init(joining parts: [SortKeyColumn]) {
        if let only = parts.first, parts.count == 1 {
            self = only
            return
        }
        self.init(capacity: parts.reduce(0) { $0 + $1.kinds.count })
        for part in parts {
            let start = bytes.count
            if !part.strings.isEmpty {
                strings += Array(repeating: 0..<0, count: kinds.count - strings.count)
                strings += part.strings.map { $0.lowerBound + start..<$0.upperBound + start }
                bytes += part.bytes
            }
            kinds += part.kinds
            prefixes += part.prefixes
        }
    }

    mutating func append(_ key: SortKey) {
        switch key {
        case .number(let number): append(number)
        case .text(let bytes): append(text: bytes)
        case .none: append(.none, 0)
        }
    }

    mutating func append(_ number: Double) {
        // Negative zero equals zero.
        let bits = (number == 0 ? 0 : number).bitPattern
        append(.number, bits >> 63 == 1 ? ~bits : bits | 1 << 63)
    }

    mutating func append<Text: RandomAccessCollection<UInt8>>(text: Text) where Text.Index == Int {
        // A string of up to 8 bytes without a zero byte is stored in its prefix.
        if text.count > 8 || text.contains(0) {
            strings += repeatElement(0..<0, count: kinds.count - strings.count)
            strings.append(bytes.count..<bytes.count + text.count)
            bytes += text
        }
        append(.text, Self.word(text, at: 0))
    }

    private mutating func append(_ kind: Kind, _ prefix: UInt64) {
        kinds.append(kind)
        prefixes.append(prefix)
    }

    /// The key of a row.
    func key(_ row: Int) -> SortKey {
        let prefix = prefixes[row]
        switch kinds[row] {
        case .none: return .none
        case .number:
            return .number(Double(bitPattern: prefix >> 63 == 1 ? prefix & ~(1 << 63) : ~prefix))
        case .text:
            let known = string(row)
            if !known.isEmpty { return .text(Array(bytes[known])) }
            return .text((0..<byteCount(row)).map { UInt8(truncatingIfNeeded: prefix >> UInt64(56 - 8 * $0)) })
        }
    }

    /// The rows in ascending order of their keys (a stable sort); nil if they are already sorted.
    ///
    /// - Complexity: O(rows), and O(n log n) among strings for each 8 bytes that they share.
    func sortedIndexes(threads: Int) -> [UInt32]? {
        if isSorted { return nil }
        if let kind = kinds.first, kinds.allSatisfy({ $0 == kind }) {
            var rows = NumberSort.ranks(of: prefixes, threads: threads)
            if kind == .text { sortStrings(&rows, 0..<rows.count) }
            return rows
        }
        var sorted: [UInt32] = []
        sorted.reserveCapacity(kinds.count)
        for kind in [Kind.number, .text, .none] {
            let rows = kinds.indices.filter { kinds[$0] == kind }
            let order = NumberSort.ranks(of: rows.map { prefixes[$0] }, threads: threads)
            let start = sorted.count
            for row in order { sorted.append(UInt32(truncatingIfNeeded: rows[Int(row)])) }
            if kind == .text { sortStrings(&sorted, start..<sorted.count) }
        }
        return sorted
    }

    private var isSorted: Bool {
        for row in 1..<max(1, kinds.count) {
            let (before, kind) = (kinds[row - 1], kinds[row])
            if before != kind ? before.rawValue > kind.rawValue : prefixes[row - 1] > prefixes[row] {
                return false
            }
            if kind == .text, before == kind, prefixes[row - 1] == prefixes[row], key(row) < key(row - 1) {
                return false
            }
        }
        return true
    }

    /// Sorts strings that are sorted by their first 8 bytes: in each run that shares these by the next 8 bytes, and so
    /// on.
    private func sortStrings(_ rows: inout [UInt32], _ range: Range<Int>) {
        guard !strings.isEmpty else { return }
        // Not recursive: strings may be long.
        var open: [(rows: Range<Int>, depth: Int)] = []
        forEachRun(range, { prefixes[Int(rows[$0])] }) { open.append(($0, 8)) }
        while let (run, depth) = open.popLast() {
            var words: [(word: UInt64, count: Int, row: UInt32)] = run.map {
                let row = Int(rows[$0])
                return (word(row, at: depth), min(byteCount(row), depth + 9), rows[$0])
            }
            // Padding equals zero bytes, so the shorter of two strings with equal words comes first.
            words.sort { ($0.word, $0.count, $0.row) < ($1.word, $1.count, $1.row) }
            for (index, word) in words.enumerated() { rows[run.lowerBound + index] = word.row }
            forEachRun(0..<words.count, { words[$0].word }) { equal in
                // Those that end here come first, in their order.
                let start = equal.first { words[$0].count > depth + 8 } ?? equal.upperBound
                guard equal.upperBound - start > 1 else { return }
                open.append((run.lowerBound + start..<run.lowerBound + equal.upperBound, depth + 8))
            }
        }
    }

    /// Calls `body` with each range of several indexes whose words are equal.
    private func forEachRun(_ range: Range<Int>, _ word: (Int) -> UInt64, _ body: (Range<Int>) -> Void) {
        var start = range.lowerBound
        while start < range.upperBound {
            var end = start + 1
            while end < range.upperBound, word(end) == word(start) { end += 1 }
            if end - start > 1 { body(start..<end) }
            start = end
        }
    }

    private func string(_ row: Int) -> Range<Int> { row < strings.count ? strings[row] : 0..<0 }

    /// How many bytes a string has.
    private func byteCount(_ row: Int) -> Int {
        let known = string(row)
        return known.isEmpty ? 8 - prefixes[row].trailingZeroBitCount / 8 : known.count
    }

    /// The 8 bytes of a string from an offset of at least 8 on, padded with zeros.
    private func word(_ row: Int, at offset: Int) -> UInt64 {
        let known = string(row)
        guard known.count > offset else { return 0 }
        return Self.word(bytes[known], at: offset)
    }

    private static func word<Text: RandomAccessCollection<UInt8>>(
        _ text: Text, at offset: Int
    ) -> UInt64 where Text.Index == Int {
        let rest = text[(text.startIndex + offset)...].prefix(8)
        return rest.reduce(0) { $0 << 8 | UInt64($1) } << UInt64(8 * (8 - rest.count))
    }
}
