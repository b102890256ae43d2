// SPDX-License-Identifier: MIT
import JSON

/// Detects the format of a text of features from its beginning, after a byte order mark.
///
/// If the first line is junk, the following lines decide.
struct FormatDetection {
    enum Outcome {
        /// More text is needed.
        case incomplete
        /// Only white space, and the text has ended.
        case empty
        case sequence
        /// JSON texts, a line each; members if they are objects with positions.
        case lines(RecordMembers? = nil)
        /// Objects one after another; members if they have positions and are no features.
        case objects(RecordMembers?)
        /// The offset after the opening bracket of a collection's features.
        case collection(Int)
        /// The offset after an array's opening bracket.
        case bareArray(Int)
        /// The offset after the opening bracket of an array of objects with positions, and whether an object is around
        /// it.
        case records(Int, RecordMembers, isWrapped: Bool)
        /// The offset after the header.
        case table(TableHeader, Int)
    }

    /// How much text is examined to detect the format, in bytes and lines.
    static let window = 1 << 20
    private static let lineLimit = 16

    private let text: UnsafeRawBufferPointer
    private let format: FeatureFormat
    private let isLast: Bool

    static func outcome(of text: [UInt8], _ format: FeatureFormat, isLast: Bool) throws(GeoJSONError) -> Outcome {
        try text.span.bytes.withUnsafeBytes { (text) throws(GeoJSONError) in
            try FormatDetection(text: text, format: format, isLast: isLast).outcome()
        }
    }

    private func outcome() throws(GeoJSONError) -> Outcome {
        let spaces: [UInt8] = [0x09, 0x0A, 0x0D, 0x20]
        guard let start = text.firstIndex(where: { !spaces.contains($0) }) else {
            return isLast ? .empty : .incomplete
        }
        switch format.kind {
        case .lines:
            guard let line = line(from: start) else { return .incomplete }
            return .lines(RecordMembers(first: line, format.table))
        case .sequence: return sequence()
        case .table: return try table()
        case .automatic, .json: break
        }
        switch text[start] {
        case 0x1E: return .sequence
        case UInt8(ascii: "{"): return try object(start)
        case UInt8(ascii: "["): return try array(start)
        default: return try other(start)
        }
    }

    /// A declared sequence. GDAL also declares lines without separators as one.
    private func sequence() -> Outcome {
        if text.contains(0x1E) { return .sequence }
        return isLast || text.count >= Self.window ? .lines() : .incomplete
    }

    // MARK: JSON

    private func object(_ start: Int) throws(GeoJSONError) -> Outcome {
        if let outcome = try members(start) { return outcome }
        if let line = line(from: start) {
            if Self.isJSON(line) { return .lines(RecordMembers(first: line, format.table)) }
        } else {
            return isLast ? .lines() : .incomplete
        }
        // The object spans several lines, is followed by another, or is junk.
        if featureFollows(start) == true { return .lines() }
        var scanner = JSONScanner()
        let rest = UnsafeRawBufferPointer(rebasing: text[start...])
        guard let length = scanner.scan(rest, toDepth: 0) else {
            guard isLast else { return .incomplete }
            try explain(rest)
            return .lines()
        }
        guard Self.isJSON(UnsafeRawBufferPointer(rebasing: rest[..<length])) else { return .lines() }
        return .objects(RecordMembers(first: rest, format.table))
    }

    /// What an object's members say up to its features; nil if its text decides.
    private func members(_ start: Int) throws(GeoJSONError) -> Outcome? {
        var cursor = JSONCursor(text, at: start + 1)
        // The first array of objects with positions, as `{"data": [...]}` has.
        var records: Outcome?
        while let key = nextKey(&cursor), let opening = cursor.byte {
            let content = cursor.offset + 1
            let isArray = opening == UInt8(ascii: "[")
            if isName(key, "features") {
                if isArray { return .collection(content) }
                throw .malformed(message: "The file's \"features\" is not an array.", offset: nil)
            }
            if isArray, records == nil {
                records = RecordMembers(first: cursor.bytes(content..<text.count), format.table)
                    .map { .records(content, $0, isWrapped: true) }
            }
            guard let value = cursor.value() else { break }
            guard isName(key, "type") else { continue }
            if isName(cursor.bytes(value), "Feature") { return nil }
            if isName(cursor.bytes(value), "Topology") {
                throw .malformed(
                    message:
                        "This is TopoJSON, not GeoJSON: convert it, for example with topo2geo or ogr2ogr -f GeoJSON.",
                    offset: nil)
            }
        }
        return cursor.byte == nil && !isLast && text.count < Self.window ? .incomplete : records
    }

    /// Reads the next member's key, quotation marks included, and colon; nil if there is none, or it is incomplete.
    private func nextKey(_ cursor: inout JSONCursor) -> UnsafeRawBufferPointer? {
        _ = cursor.take(UInt8(ascii: ","))
        cursor.skipSpaces()
        guard cursor.byte == UInt8(ascii: "\""), let key = cursor.value(), cursor.take(UInt8(ascii: ":")) else {
            return nil
        }
        cursor.skipSpaces()
        return cursor.bytes(key)
    }

    /// Whether a JSON text is a string with this content, possibly with escapes.
    private func isName(_ text: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
        let inside = text.dropFirst().dropLast()
        if inside.elementsEqual("\(name)".utf8) { return true }
        guard inside.contains(UInt8(ascii: "\\")), inside.count <= name.utf8CodeUnitCount * 6 else {
            return false
        }
        return (try? JSONReader.parse(text)) == .string("\(name)")
    }

    private func array(_ start: Int) throws(GeoJSONError) -> Outcome {
        let next = text[(start + 1)...].first { $0 > UInt8(ascii: " ") }
        guard let next else {
            guard isLast else { return .incomplete }
            try explain(UnsafeRawBufferPointer(rebasing: text[start...]))
            return .lines()
        }
        if next == UInt8(ascii: "{") {
            let rest = UnsafeRawBufferPointer(rebasing: text[(start + 1)...])
            guard RecordMembers.hasFirst(rest) || isLast || text.count >= Self.window else {
                return .incomplete
            }
            let members = RecordMembers(first: rest, format.table)
            return members.map { .records(start + 1, $0, isWrapped: false) } ?? .bareArray(start + 1)
        }
        if next == UInt8(ascii: "]") { return .bareArray(start + 1) }
        guard let follows = featureFollows(start) else { return .incomplete }
        return follows ? .lines() : .bareArray(start + 1)
    }

    private func explain(_ text: UnsafeRawBufferPointer) throws(GeoJSONError) {
        do throws(JSONError) { _ = try JSONReader.parse(text) } catch {
            throw .malformed(message: error.message, offset: error.offset)
        }
    }

    private static func isJSON(_ text: UnsafeRawBufferPointer) -> Bool {
        (try? JSONParser().withTape(of: text, allowsLoneSurrogates: true) { _ in }) != nil
    }

    /// Whether one of the next lines is a Feature by itself; nil if more text is needed.
    private func featureFollows(_ start: Int) -> Bool? {
        let parser = JSONParser()
        var offset = start
        for _ in 0..<Self.lineLimit {
            guard let line = line(from: offset) else {
                return isLast || text.count >= Self.window ? false : nil
            }
            offset += line.count + 1
            let isFeature = try? parser.withTape(of: line) { $0.root["type"]?.isString("Feature") == true }
            if isFeature == true { return true }
            if offset >= text.count { return isLast ? false : nil }
        }
        return false
    }

    /// The line from an offset on, without its end; nil if it is incomplete.
    private func line(from start: Int) -> UnsafeRawBufferPointer? {
        let rest = UnsafeRawBufferPointer(rebasing: text[start...])
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
            return isLast || rest.count >= FeatureCutter.longestPart / 2 ? rest : nil
        }
        return UnsafeRawBufferPointer(rebasing: rest[..<end])
    }

    // MARK: Tables, and what is neither

    private func table() throws(GeoJSONError) -> Outcome {
        guard let (cells, end) = header(), hasRow(after: end),
            let header = try TableHeader(cells, format.table, rows: rows(from: end))
        else { return .incomplete }
        return .table(header, end)
    }

    /// Whether the text has a row after the header, or need not have one.
    private func hasRow(after end: Int) -> Bool {
        isLast || text.count >= Self.window || text[end...].contains(UInt8(ascii: "\n"))
    }

    /// The beginning of the rows.
    private func rows(from start: Int) -> [UInt8] {
        Array(text[start..<min(text.count, start + 64 << 10)])
    }

    /// The header's text and the offset of the rows; nil if more text is needed.
    private func header() -> ([UInt8], Int)? {
        var scanner = RowScanner()
        guard let end = scanner.endOfFirstRow(text, isLast: isLast) else {
            return text.count < Self.window && !isLast ? nil : (Array(text), text.count)
        }
        return (Array(text[..<end]), end)
    }

    private func other(_ start: Int) throws(GeoJSONError) -> Outcome {
        if let problem = ForeignFormat.binaryProblem(of: Array(text.prefix(16))) {
            throw .malformed(message: problem, offset: nil)
        }
        if let problem = ForeignFormat.textProblem(of: Array(text.prefix(start + 16)), from: start) {
            guard let follows = featureFollows(start) else { return .incomplete }
            guard follows else { throw .malformed(message: problem, offset: nil) }
            return .lines()
        }
        guard let (cells, end) = header() else { return .incomplete }
        guard let follows = featureFollows(start) else { return .incomplete }
        if follows { return .lines() }
        guard hasRow(after: end) else { return .incomplete }
        if format.kind == .automatic, let header = try? TableHeader(cells, format.table, rows: rows(from: end)) {
            return .table(header, end)
        }
        if format.kind == .automatic, TableHeader.isLikely(cells) {
            _ = try TableHeader(cells, format.table)
        }
        throw .malformed(
            message: "This is neither GeoJSON nor a table: a FeatureCollection, features a line each, a JSON text "
                + "sequence, or CSV with a header was expected.", offset: nil)
    }
}
