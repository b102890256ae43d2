// SPDX-License-Identifier: MIT
import JSON

/// Which members of objects are the position, as in an API's answer, `[{"name": "A", "lat": 48.1, "lng": 11.5}]`, or in
/// lines of a log.
struct RecordMembers: Sendable, Equatable {
    private let longitude: [UInt8]
    private let latitude: [UInt8]
    private let id: [UInt8]

    /// Whether an array's content begins with a complete value.
    static func hasFirst(_ content: UnsafeRawBufferPointer) -> Bool { first(content) != nil }

    private static func first(_ content: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard let start = content.firstIndex(where: { $0 > UInt8(ascii: " ") }),
            content[start] == UInt8(ascii: "{")
        else { return nil }
        var scanner = JSONScanner()
        let rest = UnsafeRawBufferPointer(rebasing: content[start...])
        return scanner.scan(rest, toDepth: 0).map { UnsafeRawBufferPointer(rebasing: rest[..<$0]) }
    }

    /// Reads the names of the first object; nil if it is a feature, or has no members for a position.
    init?(first content: UnsafeRawBufferPointer, _ columns: TableColumns) {
        guard let text = Self.first(content), case .object(let object)? = try? JSONReader.parse(text),
            object["geometry"] == nil, object["type"] != .string("Feature")
        else { return nil }
        let names = object.members.map(\.key)
        func find(_ given: String?, _ usual: [String]) -> [UInt8]? {
            PositionNames.find(given, usual, names).map { Array(names[$0].utf8) }
        }
        guard let longitude = find(columns.longitude, PositionNames.longitudes),
            let latitude = find(columns.latitude, PositionNames.latitudes)
        else { return nil }
        (self.longitude, self.latitude) = (longitude, latitude)
        id = find(columns.id, ["id"]) ?? Array("id".utf8)
    }

    /// The array's text with a Feature for each object, with as many line ends before and within each as were sent, and
    /// the range of each value. A text that is not JSON stays. O(bytes).
    ///
    /// - Parameter texts: the expected ranges of the values; nil if brackets decide.
    func features(of array: UnsafeRawBufferPointer, _ texts: [Range<Int>]?) -> (text: [UInt8], ranges: [Range<Int>]) {
        let parser = JSONParser()
        guard let values = texts ?? PieceText.values(in: array) else { return (Array(array), []) }
        var ranges: [Range<Int>] = []
        var text = ByteWriter(capacity: array.count + values.count * 64)
        var end = 1
        text.append("[")
        for (index, range) in values.enumerated() {
            if index > 0 { text.append(",") }
            appendLines(of: array[end..<range.lowerBound], to: &text)
            let start = text.count
            let value = UnsafeRawBufferPointer(rebasing: array[range])
            do {
                try parser.withTape(of: value, allowsLoneSurrogates: true) { append($0.root, to: &text) }
            } catch {
                text.truncate(to: start)
                text.append(contentsOf: value)
            }
            let kept = text.withUnsafeBytes { LineCount.of(UnsafeRawBufferPointer(rebasing: $0[start...])) }
            appendLines(of: array[range], to: &text, besides: kept)
            ranges.append(start..<text.count)
            end = range.upperBound
        }
        text.append("]")
        return (text.withUnsafeBytes { Array($0) }, ranges)
    }

    /// Writes as many line ends as a text has, besides those that are written.
    private func appendLines(of part: Slice<UnsafeRawBufferPointer>, to text: inout ByteWriter, besides kept: Int = 0) {
        for _ in 0..<max(0, LineCount.of(UnsafeRawBufferPointer(rebasing: part)) - kept) { text.append("\n") }
    }

    private func append(_ record: JSONElement, to text: inout ByteWriter) {
        guard record.kind == .object else { return text.append(contentsOf: record.rawText) }
        var (x, y, identifier): (JSONElement?, JSONElement?, JSONElement?)
        for (key, value) in record.members {
            if key.isString(longitude) { x = value }
            if key.isString(latitude) { y = value }
            if key.isString(id) { identifier = value }
        }
        text.append("{\"type\":\"Feature\"")
        if let identifier, identifier.kind == .number || identifier.kind == .string {
            text.append(",\"id\":")
            text.append(contentsOf: identifier.rawText)
        } else {
            identifier = nil
        }
        if let x, let y, x.kind != .null, y.kind != .null {
            text.append(",\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
            append(coordinate: x, to: &text)
            text.append(",")
            append(coordinate: y, to: &text)
            text.append("]}")
        } else {
            text.append(",\"geometry\":null")
        }
        text.append(",\"properties\":{")
        var isFirst = true
        for (key, value) in record.members where !key.isString(longitude) && !key.isString(latitude) {
            if identifier != nil, key.isString(id) { continue }
            if !isFirst { text.append(",") }
            isFirst = false
            text.append(contentsOf: key.rawText)
            text.append(":")
            text.append(contentsOf: value.rawText)
        }
        text.append("}}")
    }

    /// Writes a number, also one that was sent as a string.
    private func append(coordinate: JSONElement, to text: inout ByteWriter) {
        let raw = coordinate.rawText
        let inside = coordinate.kind == .string ? UnsafeRawBufferPointer(rebasing: raw.dropFirst().dropLast()) : raw
        text.append(contentsOf: CellKind.isNumber(inside) ? inside : raw)
    }
}
