// SPDX-License-Identifier: MIT
import ArrowStream
import JSON
import SourceEngine
import SystemSupport

/// An answer as an Arrow IPC stream, batch by batch.
///
/// The rows are read twice: the first time for the names of the properties and the types of their values, which the
/// stream begins with.
public struct ColumnPages: AnswerPages {
    private let builder: Builder
    private var rows: RowReader
    private var hasBegun = false
    public private(set) var isAtEnd = false

    /// What copies share: the columns are filled by the only copy that is used.
    private final class Builder {
        var columns: ColumnBuilder
        init(_ columns: ColumnBuilder) { self.columns = columns }
    }

    /// A batch ends with the row that reaches this size.
    static let batchBytes = 4 << 20

    /// - Parameters:
    ///   - geometry: whether there is a column of points.
    ///   - metadata: what the JSON answer says besides its features, as JSON texts.
    /// - Complexity: O(the rows' text).
    init(
        _ rows: RowReader, of writer: FeatureWriter, geometry: Bool, metadata: [(name: String, value: String)]
    ) throws(SourceError) {
        let start = rows
        var rows = rows
        var kinds: [ValueKinds] = []
        var identifiers: ValueKinds = []
        while try rows.next({ (row, values) throws(SourceError) in
            identifiers.formUnion(ValueKinds(ofJSON: row.identifier))
            for number in values.present {
                while kinds.count <= number { kinds.append([]) }
                kinds[number].formUnion(ValueKinds(ofJSON: values.values[number]))
            }
        }) {}
        let names = rows.names
        while kinds.count < names.count { kinds.append([]) }
        rows.rewind(to: start)
        self.rows = rows
        builder = Builder(
            ColumnBuilder(
                identifiers: identifiers.isSubset(of: [.integer, .longInteger]) ? .int64 : .utf8,
                hasKeys: writer.output.include.contains(.key),
                geometry: geometry ? GeometryColumn(crs: writer.projection.isRound ? "OGC:CRS84" : nil) : nil,
                names, kinds.map(\.columnType), metadata: metadata))
    }

    public mutating func writePage(into bytes: inout ByteWriter, _ cancellation: Cancellation) throws(SourceError) {
        if !hasBegun { ArrowStreamWriter.write(builder.columns.schema, into: &bytes) }
        hasBegun = true
        let builder = builder
        while builder.columns.rows < ArrowStreamWriter.mostRows, builder.columns.byteCount < Self.batchBytes {
            let hasRow = try rows.next { (row, values) throws(SourceError) in builder.columns.append(row, values) }
            guard hasRow else {
                isAtEnd = true
                break
            }
        }
        if builder.columns.rows > 0 { builder.columns.writeBatch(into: &bytes) }
    }

    public func writeEnd(into bytes: inout ByteWriter) { ArrowStreamWriter.writeEnd(into: &bytes) }
}
