// SPDX-License-Identifier: MIT
import JSON

/// Parses features from a table's rows. Used by one thread at a time.
///
/// Records are written directly from the cells, without parsing JSON.
struct TableParser: ~Copyable {
    let rules: FeatureRules
    private var cells: [TableCell] = []
    /// A record's id and coordinates while they are written. Shared by all rows, since an allocation for each
    /// row costs as much as reading it.
    private var head = ByteWriter(capacity: 128)

    init(rules: FeatureRules) { self.rules = rules }

    /// Adds the features of complete rows.
    mutating func parse(
        _ text: UnsafeRawBufferPointer, _ header: TableHeader, into result: ParsedFeatures
    ) {
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
            if let fault = fault ?? add(header, id, result) {
                let hasCells = row.fault == nil && cells.count == header.names.count && fault != .badEncoding
                result.addFault(
                    fault, identifier: hasCells ? identifier(header, id) : nil, range: row.range)
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
            _ = DecimalComma.replace(
                UnsafeMutableRawBufferPointer(rebasing: text[offset..<offset + cell.text.count]))
        }
    }

    /// The texts of a row's longitude and latitude; nil if one column does not have both.
    @inline(__always) private func position(
        _ header: TableHeader
    ) -> (UnsafeRawBufferPointer, UnsafeRawBufferPointer)? {
        guard header.longitude == header.latitude else {
            return (Self.trimmed(cells[header.longitude].text), Self.trimmed(cells[header.latitude].text))
        }
        return PositionNames.pair(cells[header.longitude].text).map { ($0.longitude, $0.latitude) }
    }

    private func identifier(_ header: TableHeader, _ column: Int?) -> String? {
        guard let column, !cells[column].text.isEmpty else { return nil }
        if case .number = CellKind(cells[column], staysText: header.staysText[column]) {
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
        let blob = result.blob
        appendHead(header, id, texts, wrapped: position.longitude == longitude ? nil : position, to: blob)
        if rules.promoteId != nil, let id, !cells[id].text.isEmpty { result.advice.promoted += 1 }
        appendProperties(header, to: blob)
        result.endRow(longitude: position.longitude, latitude: position.latitude)
        result.piece?.add(TableRow(header: header, cells: cells))
        return nil
    }

    /// Writes the record's lengths, id and coordinates.
    private mutating func appendHead(
        _ header: TableHeader, _ id: Int?, _ texts: (UnsafeRawBufferPointer, UnsafeRawBufferPointer),
        wrapped: GeometryPosition?, to blob: FeatureBlob
    ) {
        head.truncate(to: 0)
        if rules.promoteId == nil {
            appendToHead(header, id)
        } else {
            head.append(UInt8(0))
            appendToHead(header, id)
            head.append(UInt8(0))
            appendToHead(header, header.id)
        }
        let idLength = head.count
        head.append("[")
        if let wrapped {
            head.append(number: wrapped.longitude)
        } else {
            head.append(contentsOf: texts.0)
        }
        head.append(",")
        head.append(contentsOf: texts.1)
        head.append("]")
        blob.append(length: idLength)
        blob.append(length: head.count - idLength)
        blob.append(length: 0)
        head.withUnsafeBytes { blob.append($0) }
    }

    /// Writes a cell as an id; nothing if it is empty.
    private mutating func appendToHead(_ header: TableHeader, _ column: Int?) {
        guard let column, !cells[column].text.isEmpty else { return }
        if case .number = CellKind(cells[column], staysText: header.staysText[column]) {
            head.append(contentsOf: cells[column].text)
        } else {
            head.append(json: cells[column].string)
        }
    }

    private func appendProperties(_ header: TableHeader, to blob: FeatureBlob) {
        blob.append(byte: UInt8(ascii: "{"))
        var isFirst = true
        for column in cells.indices {
            guard let key = header.keys[column] else { continue }
            let cell = cells[column]
            let kind = CellKind(cell, staysText: header.staysText[column])
            if case .empty = kind { continue }
            if !isFirst { blob.append(byte: UInt8(ascii: ",")) }
            isFirst = false
            key.withUnsafeBytes { blob.append($0) }
            if case .text = kind {
                Self.append(text: cell, to: blob)
            } else {
                blob.append(cell.text)
            }
        }
        blob.append(byte: UInt8(ascii: "}"))
    }

    /// Writes a cell's text as a JSON string.
    @inline(__always) private static func append(text cell: TableCell, to blob: FeatureBlob) {
        blob.append(byte: UInt8(ascii: "\""))
        let text = cell.text
        var (start, at) = (0, 0)
        while at < text.count {
            let byte = text[at]
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
                at &+= 1
                continue
            }
            blob.append(UnsafeRawBufferPointer(rebasing: text[start..<at]))
            append(escaped: byte, to: blob)
            // A doubled quotation mark is written once.
            at &+= byte == UInt8(ascii: "\"") && cell.hasDoubledQuotes ? 2 : 1
            start = at
        }
        if start < text.count { blob.append(UnsafeRawBufferPointer(rebasing: text[start...])) }
        blob.append(byte: UInt8(ascii: "\""))
    }

    private static func append(escaped byte: UInt8, to blob: FeatureBlob) {
        blob.append(byte: UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\n"): blob.append(byte: UInt8(ascii: "n"))
        case UInt8(ascii: "\r"): blob.append(byte: UInt8(ascii: "r"))
        case UInt8(ascii: "\t"): blob.append(byte: UInt8(ascii: "t"))
        case 0..<0x20:
            let digits = Array("0123456789abcdef".utf8)
            for digit in [UInt8(ascii: "u"), 48, 48, digits[Int(byte >> 4)], digits[Int(byte & 15)]] {
                blob.append(byte: digit)
            }
        default: blob.append(byte: byte)
        }
    }

    @inline(__always) private static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var (start, end) = (0, text.count)
        while start < end, text[start] == UInt8(ascii: " ") { start += 1 }
        while end > start, text[end - 1] == UInt8(ascii: " ") { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: text[start..<end])
    }
}
