// SPDX-License-Identifier: MIT
import JSON

/// Parses features from a table's rows. Used by one thread at a time.
///
/// Records are written directly from the cells, without parsing JSON.
struct TableParser: ~Copyable {
    let rules: FeatureRules
    private var cells: [TableCell] = []
    /// A record while it is written. Shared by all rows, since an allocation for each row costs as much as reading it.
    private var record = ByteWriter(capacity: 512)

    init(rules: FeatureRules) { self.rules = rules }

    /// Adds the features of complete rows.
    mutating func parse(_ text: UnsafeRawBufferPointer, _ header: TableHeader, into result: ParsedFeatures) {
        guard header.hasDecimalCommas else { return parse(text, header, copy: nil, into: result) }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyMemory(from: text)
        parse(UnsafeRawBufferPointer(copy), header, copy: copy, into: result)
    }

    /// - Parameter copy: the text, if decimal commas are to be replaced in it.
    private mutating func parse(
        _ text: UnsafeRawBufferPointer, _ header: TableHeader, copy: UnsafeMutableRawBufferPointer?,
        into result: ParsedFeatures
    ) {
        var scanner = RowScanner()
        let isUTF8 = JSONText.isUTF8(text)
        let promoted = rules.promoteId.flatMap { header.column(named: $0) }
        let id = rules.promoteId == nil ? header.id : promoted
        while let row = scanner.next(text, header.delimiter, isLast: true, into: &cells) {
            let bytes = UnsafeRawBufferPointer(rebasing: text[row.range])
            var fault = row.fault
            if fault == nil, !isUTF8, !JSONText.isUTF8(bytes) { fault = .badEncoding }
            if fault == nil, cells.count != header.names.count { fault = .badCellCount }
            if let copy, fault == nil { replaceDecimalCommas(header, in: copy) }
            if let fault = fault ?? (rules.refused == nil ? add(header, id, result) : .badWeight) {
                let hasCells = row.fault == nil && cells.count == header.names.count && fault != .badEncoding
                result.addFault(fault, identifier: hasCells ? identifier(header, id) : nil, range: row.range)
            } else {
                result.seen += 1
            }
        }
    }

    /// Replaces the commas of the row's numbers by points, besides those of columns that stay text.
    private func replaceDecimalCommas(_ header: TableHeader, in text: UnsafeMutableRawBufferPointer) {
        guard let base = text.baseAddress else { return }
        for (column, cell) in cells.enumerated() where !header.staysText[column] {
            guard let start = cell.text.baseAddress else { continue }
            let offset = UnsafeRawPointer(base).distance(to: start)
            _ = DecimalComma.replace(UnsafeMutableRawBufferPointer(rebasing: text[offset..<offset + cell.text.count]))
        }
    }

    /// The texts of a row's longitude and latitude; nil if one column does not have both.
    @inline(__always) private func position(
        _ header: TableHeader
    ) -> (UnsafeRawBufferPointer, UnsafeRawBufferPointer)? {
        guard header.longitude == header.latitude else {
            return (cells[header.longitude].text.trimmed(), cells[header.latitude].text.trimmed())
        }
        return PositionNames.pair(cells[header.longitude].text).map { ($0.longitude, $0.latitude) }
    }

    private func identifier(_ header: TableHeader, _ column: Int?) -> String? {
        guard let column, !cells[column].text.isEmpty else { return nil }
        if CellKind(cells[column], staysText: header.staysText[column]).isNumber {
            return cells[column].string
        }
        return JSONValue.string(cells[column].string).text
    }

    /// Appends the row's record, or appends nothing and returns the fault.
    @inline(__always) private mutating func add(
        _ header: TableHeader, _ id: Int?, _ result: ParsedFeatures
    ) -> FeatureFault? {
        guard let texts = position(header) else {
            if !cells[header.longitude].text.isEmpty { result.advice.noteTextAsPosition() }
            return .badPosition
        }
        guard CellKind.isNumber(texts.0), CellKind.isNumber(texts.1),
            let longitude = JSONText.number(texts.0), let latitude = JSONText.number(texts.1)
        else {
            if !texts.0.isEmpty, !texts.1.isEmpty { result.advice.noteTextAsPosition() }
            return .badPosition
        }
        var position = GeometryPosition(longitude: longitude, latitude: latitude)
        if let fault = rules.fault(longitude: longitude, latitude: latitude) {
            guard rules.canWrap(position, after: fault) else {
                result.advice.note(position)
                return fault
            }
            position = position.wrapped
        }
        append(header, id, texts, wrapped: position.longitude == longitude ? nil : position, to: result.blob)
        if rules.promoteId != nil, let id, !cells[id].text.isEmpty { result.advice.promoted += 1 }
        result.endRow(longitude: position.longitude, latitude: position.latitude)
        return nil
    }

    /// Writes the record: lengths, id, coordinates and properties.
    private mutating func append(
        _ header: TableHeader, _ id: Int?, _ texts: (UnsafeRawBufferPointer, UnsafeRawBufferPointer),
        wrapped: GeometryPosition?, to blob: GrowingColumn<UInt8>
    ) {
        record.truncate(to: 0)
        if rules.promoteId == nil {
            appendIdentifier(header, id)
        } else {
            record.append(UInt8(0))
            appendIdentifier(header, id)
            record.append(UInt8(0))
            appendIdentifier(header, header.id)
        }
        let idLength = record.count
        record.append("[")
        if let wrapped {
            record.append(number: wrapped.longitude)
        } else {
            record.append(contentsOf: texts.0)
        }
        record.append(",")
        record.append(contentsOf: texts.1)
        record.append("]")
        blob.append(length: idLength)
        blob.append(length: record.count - idLength)
        blob.append(length: 0)
        appendProperties(header)
        record.withUnsafeBytes { blob.append($0) }
    }

    /// Writes a cell as an id; nothing if it is empty.
    private mutating func appendIdentifier(_ header: TableHeader, _ column: Int?) {
        guard let column, !cells[column].text.isEmpty else { return }
        append(cells[column], CellKind(cells[column], staysText: header.staysText[column]).isNumber)
    }

    private mutating func appendProperties(_ header: TableHeader) {
        record.append("{")
        let start = record.count
        for column in cells.indices {
            guard let key = header.keys[column] else { continue }
            let kind = CellKind(cells[column], staysText: header.staysText[column])
            if case .empty = kind { continue }
            if record.count > start { record.append(",") }
            record.append(contentsOf: key)
            if case .text = kind {
                append(cells[column], false)
            } else {
                append(cells[column], true)
            }
        }
        record.append("}")
    }

    /// Writes a cell as it is, or as a JSON string.
    @inline(__always) private mutating func append(_ cell: TableCell, _ isJSON: Bool) {
        if isJSON {
            record.append(contentsOf: cell.text)
        } else if cell.hasDoubledQuotes {
            record.append(json: cell.string)
        } else {
            record.append(json: cell.text)
        }
    }
}
