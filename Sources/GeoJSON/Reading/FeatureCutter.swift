// SPDX-License-Identifier: MIT
import Glibc
import JSON

/// Cuts a text of features that arrives in pieces into pieces of complete features.
///
/// Only text that has not been cut yet is held, so memory depends on the pieces and not on the file. Brackets, line
/// ends and quotation marks decide where a feature ends. The parser decides whether it is valid.
struct FeatureCutter {
    typealias Body = (PieceText) throws(GeoJSONError) -> Void

    private enum State {
        case start, collection, lines, sequence, objects, trailer
        case table(TableHeader)
    }

    /// The default limit, in bytes, of a feature and of the text before and after the features.
    static let longestPart = 16 << 20

    let longestPart: Int
    private let format: FeatureFormat
    private var state = State.start
    private var held: [UInt8] = []
    /// The number of held bytes that have been scanned.
    private var scanned = 0
    private var scanner = JSONScanner()
    private var rows = RowScanner()
    /// The collection without its features, which is parsed at the end; nil for a bare array.
    private var frame: [UInt8]?
    private var isFirstPiece = true
    /// The text is not searched again before this many bytes are held.
    private var nextCut = 0
    /// How often the text has been searched.
    private(set) var cuts = 0
    /// The number of bytes dropped before the held ones.
    private var consumed = 0
    /// The number of line ends dropped since the last piece.
    private var droppedLines = 0
    private(set) var foreignReferenceSystem: String?
    private var records: RecordMembers?
    /// Memory for the next piece's text.
    var spare: [UInt8] = []
    /// In a cutter that begins later in a text: the length of the text's byte order mark and header.
    private(set) var headLength = 0
    /// Whether the frame is that of an array of records.
    private var isWrapped = false

    /// Whether there was nothing but white space, or a table's header. Asked once the text has ended.
    var isBlank: Bool {
        switch state {
        case .start: true
        case .table: isFirstPiece
        case .collection, .lines, .sequence, .objects, .trailer: false
        }
    }

    init(_ format: FeatureFormat = FeatureFormat(), longestPart: Int = longestPart) {
        (self.format, self.longestPart) = (format, longestPart)
    }

    /// Begins later in a text whose layout its head shows: at the start of a line or a row. Nil if the text has no
    /// such places.
    init?(_ format: FeatureFormat, after head: [UInt8]) {
        self.init(format)
        // As much at once as a reader of the whole text gets.
        while case .start = state, consumed + held.count < head.count {
            let from = consumed + held.count
            held += head[from..<min(head.count, from + FeatureFileReader.windowSize)]
            guard (try? begin(false)) != nil else { return nil }
        }
        switch state {
        case .lines, .table: break
        case .start, .collection, .sequence, .objects, .trailer: return nil
        }
        (headLength, isFirstPiece) = (consumed, false)
        (held, consumed, droppedLines) = ([], 0, 0)
    }

    /// What separates the cells of a table; nil for lines.
    var delimiter: UInt8? {
        if case .table(let header) = state { header.delimiter } else { nil }
    }

    /// Adds a piece of text and yields the complete features. If much text without a complete feature is held, it is
    /// searched again only after it has grown by an eighth, so that small pieces of a long feature take linear time.
    mutating func push(_ text: Span<UInt8>, _ body: Body) throws(GeoJSONError) {
        held.append(contentsOf: text.bytes)
        guard held.count >= nextCut || isTooLong else { return }
        try cut(isLast: false, body)
        nextCut = held.count < Self.littleText ? 0 : held.count + held.count / 8
        guard !isTooLong else {
            throw .malformed(
                message: "A feature, or what surrounds the features, is longer than \(longestPart >> 20) MiB.",
                offset: consumed)
        }
    }

    private var isTooLong: Bool { held.count + (frame?.count ?? 0) > longestPart }

    /// Less held text than this is searched with every piece, in bytes.
    private static let littleText = 4 << 10

    /// Yields what is left when the text has ended.
    mutating func finish(_ body: Body) throws(GeoJSONError) { try cut(isLast: true, body) }

    private mutating func cut(isLast: Bool, _ body: Body) throws(GeoJSONError) {
        cuts += 1
        if case .start = state { try begin(isLast) }
        switch state {
        case .start: break
        case .collection:
            try cutCollection(body)
            if case .trailer = state {
                if isLast { try checkFrame() }
            } else if isLast {
                throw .malformed(
                    message: "The text ends within its features: it was probably cut off.",
                    offset: consumed + held.count)
            }
        case .lines: try cutTexts(separator: Self.lineFeed, isLast, body)
        case .sequence: try cutTexts(separator: Self.recordSeparator, isLast, body)
        case .objects: try cutObjects(isLast, body)
        case .table(let header): try cutRows(header, isLast, body)
        case .trailer: if isLast { try checkFrame() }
        }
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let recordSeparator: UInt8 = 0x1E

    /// Detects the format, once enough text is available.
    private mutating func begin(_ isLast: Bool) throws(GeoJSONError) {
        if held.starts(with: [0xEF, 0xBB, 0xBF]) {
            drop(3)
        } else if held.count < 3, held.first == 0xEF, !isLast {
            return
        }
        switch try FormatDetection.outcome(of: held, format, isLast: isLast) {
        case .incomplete: break
        case .empty: drop(held.count)
        case .lines(let members): (state, records) = (.lines, members)
        case .sequence: state = .sequence
        case .objects(let members): (state, records) = (.objects, members)
        case .collection(let offset):
            let head = Array(held[..<offset])
            foreignReferenceSystem = Self.referenceSystem(head + Array("]}".utf8))
            frame = head + [UInt8(ascii: "]")]
            enterFeatures(at: offset)
        case .bareArray(let offset): enterFeatures(at: offset)
        case .records(let offset, let members, let isWrapped):
            records = members
            self.isWrapped = isWrapped
            if isWrapped { frame = Array(held[..<offset]) + [UInt8(ascii: "]")] }
            enterFeatures(at: offset)
        case .table(let header, let offset):
            drop(offset)
            state = .table(header)
        }
    }

    private mutating func enterFeatures(at offset: Int) {
        drop(offset)
        scanned = 0
        scanner = JSONScanner()
        state = .collection
    }

    /// Drops bytes at the beginning.
    private mutating func drop(_ count: Int) {
        guard count > 0 else { return }
        droppedLines += LineCount.of(held[..<count])
        remove(count)
    }

    private mutating func remove(_ count: Int) {
        held.removeFirst(count)
        consumed += count
    }

    /// Yields held bytes, and drops them and all before them. Does not count their lines, because only one
    /// thread at a time cuts: the thread that parses the bytes counts them.
    private mutating func hand(
        _ form: PieceText.Form, from start: Int = 0, upTo end: Int, _ body: Body
    ) throws(GeoJSONError) {
        guard end > start else { return drop(end) }
        var buffer: [UInt8] = []
        swap(&buffer, &spare)
        try body(
            PieceText(
                form, held[start..<end], linesBefore: droppedLines + LineCount.of(held[..<start]),
                foreignReferenceSystem: foreignReferenceSystem, records: records, buffer: buffer))
        droppedLines = 0
        remove(end)
    }

    // MARK: Collections

    /// Cuts after the last complete feature. After the array's end, the rest is the trailer.
    private mutating func cutCollection(_ body: Body) throws(GeoJSONError) {
        let (cut, ended) = scanToLastBracket()
        let featuresEnd = ended ? scanned - 1 : cut
        try handFeatures(upTo: featuresEnd, body)
        scanned -= featuresEnd
        if ended {
            drop(1)
            state = .trailer
        }
    }

    /// The offset after the last bracket that closes a feature, and whether the array's own bracket follows.
    private mutating func scanToLastBracket() -> (cut: Int, ended: Bool) {
        // A copy, since a span of this value is lent meanwhile.
        var scanner = scanner
        let (last, length) = scanner.scanToLast(held.span.extracting(scanned...))
        self.scanner = scanner
        defer { scanned += length }
        return (last > 0 ? scanned + last : 0, scanner.depth < 0)
    }

    /// Pieces are cut before commas, so every one but the first must begin with one.
    private mutating func handFeatures(upTo end: Int, _ body: Body) throws(GeoJSONError) {
        guard var start = held[..<end].firstIndex(where: Self.isContent) else { return drop(end) }
        if !isFirstPiece {
            guard held[start] == UInt8(ascii: ","), held[(start + 1)..<end].contains(where: Self.isContent)
            else { throw .commaExpected }
            start += 1
        }
        isFirstPiece = false
        try hand(.array, from: start, upTo: end, body)
    }

    /// Parses what surrounded the features.
    private mutating func checkFrame() throws(GeoJSONError) {
        guard let frame else {
            guard !held.contains(where: Self.isContent) else {
                throw .malformed(message: "More text follows the array of features.", offset: consumed)
            }
            return
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.parse(frame + held)
        } catch {
            let text = frame + held
            if let word = ForeignNumber.find(in: text) {
                let number = ForeignNumber(word: String(decoding: text[word], as: UTF8.self), line: nil)
                throw .malformed(message: "What surrounds the features \(number.message).", offset: nil)
            }
            throw .malformed(
                message: "What surrounds the features is not JSON: \(error.message)", offset: nil)
        }
        if isWrapped { return }
        guard case .object(let object) = value, object["type"] == .string("FeatureCollection") else {
            throw .malformed(message: "The file's \"type\" is not \"FeatureCollection\".", offset: nil)
        }
        // The frame keeps the array that was read, emptied.
        guard object["features"] == .array([]) else {
            throw .malformed(message: "The file has more than one member \"features\".", offset: nil)
        }
        foreignReferenceSystem = foreignReferenceSystem ?? Self.referenceSystem(frame + held)
    }

    /// The reference system that a collection declares (as before RFC 7946), if it is another than WGS 84's
    /// longitude and latitude.
    private static func referenceSystem(_ frame: [UInt8]) -> String? {
        guard case .object(let object)? = try? JSONReader.parse(frame),
            case .object(let system)? = object["crs"], case .object(let properties)? = system["properties"],
            case .string(let name)? = properties["name"]
        else { return nil }
        let known = ["CRS84", "EPSG:4326", "EPSG::4326", "EPSG:4979", "EPSG::4979", "CRS84H", "WGS84", "WGS 84"]
        return known.contains { name.uppercased().hasSuffix($0) } ? nil : name
    }

    // MARK: Texts, objects and rows

    private mutating func cutTexts(separator: UInt8, _ isLast: Bool, _ body: Body) throws(GeoJSONError) {
        let end = isLast ? held.count : (held.lastIndex(of: separator) ?? 0)
        try hand(.texts(separator: separator), upTo: end, body)
    }

    private mutating func cutObjects(_ isLast: Bool, _ body: Body) throws(GeoJSONError) {
        let (cut, ended) = scanToLastBracket()
        guard !ended else {
            throw .malformed(message: "A bracket closes that was never opened.", offset: consumed + scanned - 1)
        }
        try hand(.objects, upTo: cut, body)
        scanned -= cut
        if isLast, held.contains(where: Self.isContent) {
            throw .malformed(message: "The text ends within a feature: it was probably cut off.", offset: consumed)
        }
    }

    private mutating func cutRows(_ header: TableHeader, _ isLast: Bool, _ body: Body) throws(GeoJSONError) {
        let end = rows.endOfWholeRows(held, header.delimiter, isLast: isLast)
        if isFirstPiece, held[..<end].contains(where: Self.isContent) { isFirstPiece = false }
        try hand(.rows(header), upTo: end, body)
    }

    private static func isContent(_ byte: UInt8) -> Bool { byte > UInt8(ascii: " ") }
}
