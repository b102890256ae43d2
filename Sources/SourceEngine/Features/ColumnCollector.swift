// SPDX-License-Identifier: MIT
import Expressions
import GeoJSON
import JSON

/// Decodes the properties that expressions read while features are being parsed.
///
/// `@unchecked Sendable` holds because only the thread that holds its builder uses it, one at a
/// time. A piece is filled by one thread, and taken over by another after the first has finished.
package final class ColumnCollector: PropertyCollector, @unchecked Sendable {
    private let names: [String]
    private var columns: [PropertyColumnWriter]
    private var count = 0

    package init(_ names: Set<String>) {
        self.names = names.sorted()
        columns = names.map { _ in PropertyColumnWriter() }
    }

    package var memoryBytes: Int { columns.reduce(0) { $0 + $1.memoryBytes } }

    package func makePiece() -> any PropertyPiece { ColumnPiece(names) }

    package func take(_ piece: any PropertyPiece) {
        guard let piece = piece as? ColumnPiece else { return }
        for column in columns.indices { columns[column].append(contentsOf: piece.columns[column]) }
        count += piece.count
    }

    /// The columns of all features read.
    package func finish() -> SourceColumns {
        var all = FeatureColumns(count: count)
        for column in columns.indices { all.add(names[column], columns[column].finish()) }
        columns = []
        return SourceColumns(all)
    }
}

/// The columns of some features.
private final class ColumnPiece: PropertyPiece {
    private let names: [[UInt8]]
    fileprivate private(set) var columns: [PropertyColumnWriter]
    /// By column, the feature's last member of that name.
    private var values: [JSONElement?]
    fileprivate private(set) var count = 0
    /// The last table that rows came from, and its column of each name.
    private var header: TableHeader?
    private var cells: [Int?] = []

    init(_ names: [String]) {
        self.names = names.map { Array($0.utf8) }
        columns = names.map { _ in PropertyColumnWriter() }
        values = names.map { _ in nil }
    }

    func removeAll() {
        for column in columns.indices { columns[column].removeAll() }
        count = 0
    }

    func add(_ properties: JSONElement) {
        // Most features have the same members in the same order.
        var next = 0
        for (key, value) in properties.members {
            guard let column = column(named: key, from: next) else { continue }
            values[column] = value
            next = column + 1
        }
        for column in columns.indices {
            Self.append(values[column], to: &columns[column])
            values[column] = nil
        }
        count += 1
    }

    func add(_ row: TableRow) {
        if row.header !== header {
            header = row.header
            cells = names.map { row.header.column(named: String(decoding: $0, as: UTF8.self)) }
        }
        for column in columns.indices {
            switch cells[column].map(row.value) ?? .missing {
            case .missing: columns[column].appendMissing()
            case .number(let number): columns[column].append(number)
            case .bool(let value): columns[column].append(value)
            case .text(let text): columns[column].append(utf8: text)
            case .string(let text): columns[column].append(.string(text))
            }
        }
        count += 1
    }

    /// - Parameter first: the column to try first.
    @inline(__always) private func column(named key: JSONElement, from first: Int) -> Int? {
        for index in first..<first + names.count {
            let column = index < names.count ? index : index - names.count
            if key.isString(names[column]) { return column }
        }
        return nil
    }

    @inline(__always) private static func append(_ value: JSONElement?, to column: inout PropertyColumnWriter) {
        guard let value else { return column.appendMissing() }
        if let number = value.number { return column.append(number) }
        if let text = value.plainString { return column.append(utf8: text) }
        column.append(value.value)
    }
}
