// SPDX-License-Identifier: MIT
import Glibc
import JSON

/// A piece of a text, of complete features, to be parsed by another thread than the one that cut it.
struct PieceText: Sendable {
    enum Form {
        /// Features separated by commas: the content of an array's brackets.
        case array
        /// JSON texts, one after each separator byte.
        case texts(separator: UInt8)
        /// JSON objects one after another.
        case objects
        /// Rows of a table.
        case rows(TableHeader)
    }

    /// A JSON array, or a table's rows. Before `join` it may also be texts or objects as they were cut.
    private(set) var text: [UInt8]
    /// The form of text that `join` makes an array of.
    private var formToJoin: Form?
    /// The expected range of each feature in the text; nil for an array as sent.
    private(set) var texts: [Range<Int>]?
    private(set) var header: TableHeader?
    /// The number of line ends between the previous piece and this one, and in this one. The second is known
    /// after `join`.
    let linesBefore: Int
    private(set) var lines = 0
    /// The reference system that the collection declares, if it is not longitude and latitude.
    let foreignReferenceSystem: String?
    /// The members of objects of which `join` makes features; nil for features.
    private var records: RecordMembers?

    /// - Parameter buffer: memory for the text.
    init(
        _ form: Form, _ bytes: ArraySlice<UInt8>, linesBefore: Int, foreignReferenceSystem: String?,
        records: RecordMembers?, buffer: consuming [UInt8]
    ) {
        buffer.removeAll(keepingCapacity: true)
        text = buffer
        self.linesBefore = linesBefore
        self.foreignReferenceSystem = foreignReferenceSystem
        self.records = records
        switch form {
        case .rows(let header):
            text.append(contentsOf: bytes)
            self.header = header
        case .array:
            text.reserveCapacity(bytes.count + 2)
            text.append(UInt8(ascii: "["))
            text.append(contentsOf: bytes)
            text.append(UInt8(ascii: "]"))
        case .texts, .objects:
            text.append(contentsOf: bytes)
            formToJoin = form
        }
    }

    /// Counts the lines, and makes one array of the text if it is not one yet. It is separate from the
    /// initializer, so that each parser's thread does it for its own pieces. O(bytes).
    ///
    /// - Parameter memory: memory to reuse. It holds the text as it was cut afterwards.
    mutating func join(reusing memory: inout [UInt8]) {
        lines = LineCount.of(text[...])
        joinForm(reusing: &memory)
        guard let members = records else { return }
        records = nil
        let features = text.withUnsafeBytes { members.features(of: $0, texts) }
        text = features.text
        if texts != nil { texts = features.ranges }
    }

    private mutating func joinForm(reusing memory: inout [UInt8]) {
        guard let form = formToJoin else { return }
        formToJoin = nil
        swap(&text, &memory)
        text.removeAll(keepingCapacity: true)
        memory.withUnsafeBytes { bytes in
            switch form {
            case .texts(let separator): join(bytes, Self.texts(in: bytes, separator))
            case .objects: join(bytes, Self.values(in: bytes) ?? [])
            case .array, .rows: break
            }
        }
    }

    /// The piece as one array.
    func joined() -> PieceText {
        var (joined, memory) = (self, [UInt8]())
        joined.join(reusing: &memory)
        return joined
    }

    /// The number of line ends before an offset in the text.
    func lines(before offset: Int) -> Int { LineCount.of(text[..<offset]) }

    /// Joins texts into one array. The text between them stays, including line ends.
    private mutating func join(_ bytes: UnsafeRawBufferPointer, _ ranges: [Range<Int>]) {
        text.reserveCapacity(bytes.count + ranges.count + 2)
        text.append(UInt8(ascii: "["))
        var (joined, end) = ([Range<Int>](), 0)
        joined.reserveCapacity(ranges.count)
        for range in ranges {
            if !joined.isEmpty { text.append(UInt8(ascii: ",")) }
            for byte in bytes[end..<range.lowerBound] where byte == UInt8(ascii: "\n") { text.append(byte) }
            let start = text.count
            text.append(contentsOf: bytes[range])
            joined.append(start..<text.count)
            end = range.upperBound
        }
        text.append(UInt8(ascii: "]"))
        texts = joined
    }

    /// The texts between separators, without blank ones.
    private static func texts(in bytes: UnsafeRawBufferPointer, _ separator: UInt8) -> [Range<Int>] {
        var texts: [Range<Int>] = []
        var start = 0
        while start < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
            let end = start + (rest.firstIndex(of: separator) ?? rest.count)
            let text = trimmed(start..<end, bytes)
            if !text.isEmpty { texts.append(text) }
            start = end + 1
        }
        return texts
    }

    /// The values of an array, or of consecutive values, found by brackets only. Text before
    /// an object that is not an object itself counts as part of it.
    ///
    /// - Returns: nil if an array's values do not have one comma between each two.
    static func values(in bytes: UnsafeRawBufferPointer) -> [Range<Int>]? {
        var values: [Range<Int>] = []
        var scanner = JSONScanner()
        let isArray = bytes.first == UInt8(ascii: "[")
        let end = isArray ? bytes.count - 1 : bytes.count
        var start = isArray ? 1 : 0
        while start < end {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            let length = scanner.scan(rest, toDepth: 0) ?? rest.count
            var value = trimmed(start..<start + length, bytes)
            if isArray, !values.isEmpty, let first = value.first {
                guard bytes[first] == UInt8(ascii: ",") else { return nil }
                value = trimmed(first + 1..<value.upperBound, bytes)
                if value.isEmpty { return nil }
            }
            if !value.isEmpty { values.append(value) }
            start += length
        }
        return values
    }

    private static func trimmed(_ range: Range<Int>, _ bytes: UnsafeRawBufferPointer) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, isSpace(bytes[start]) { start += 1 }
        while end > start, isSpace(bytes[end - 1]) { end -= 1 }
        return start..<end
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte >= 9 && byte <= 13
    }
}

/// Numbers the lines of consecutive pieces.
struct PieceLines {
    private var next = 1

    /// The line of the first byte of the next piece, from 1.
    ///
    /// - Parameter piece: after `join`.
    mutating func first(of piece: PieceText) -> Int {
        let first = next + piece.linesBefore
        next = first + piece.lines
        return first
    }
}

/// Counts line ends.
enum LineCount {
    /// - Complexity: O(bytes), at about ten gigabytes per second if lines are long.
    static func of(_ text: UnsafeRawBufferPointer) -> Int {
        guard var start = text.baseAddress else { return 0 }
        let end = start + text.count
        var count = 0
        while let found = memchr(start, Int32(UInt8(ascii: "\n")), end - start) {
            count &+= 1
            start = UnsafeRawPointer(found) + 1
        }
        return count
    }

    static func of(_ text: ArraySlice<UInt8>) -> Int { text.withUnsafeBytes { of($0) } }
}
