// SPDX-License-Identifier: MIT
import JSON

/// Cuts a text of features that comes in pieces into pieces of whole features.
///
/// The text is a FeatureCollection, features a line each, a JSON text sequence (RFC 8142), or one feature.
/// It is held only as far as it has not been cut yet, so memory follows the pieces and not the file.
struct FeatureTextReader {
    /// A piece of whole features.
    enum Piece {
        /// Features with commas between them: what stands within an array's brackets.
        case array(UnsafeRawBufferPointer)
        /// JSON texts, one after each separator byte.
        case texts(UnsafeRawBufferPointer, separator: UInt8)
    }

    private enum State {
        case start
        case collection
        case lines
        case sequence
        case trailer
    }

    /// No feature, and nothing before or behind the features, may be longer, in bytes.
    static let longestPart = 16 << 20

    private var state = State.start
    private var held: [UInt8] = []
    /// How many of the held bytes the scanner has seen.
    private var scanned = 0
    private var scanner = JSONScanner()
    /// The collection without its features, to be parsed in the end.
    private var frame: [UInt8] = []
    private var isFirstPiece = true
    /// How many bytes were let go of before those held.
    private var consumed = 0

    /// Takes a piece of text in and hands on all features that are whole.
    mutating func push(
        _ text: UnsafeRawBufferPointer, _ body: (Piece) throws(GeoJSONError) -> Void
    ) throws(GeoJSONError) {
        if case .trailer = state {
            frame.append(contentsOf: text)
        } else {
            held.append(contentsOf: text)
        }
        if case .start = state { try begin() }
        switch state {
        case .start, .trailer: break
        case .collection: try cutCollection(body)
        case .lines: try cutTexts(separator: Self.lineFeed, isLast: false, body)
        case .sequence: try cutTexts(separator: Self.recordSeparator, isLast: false, body)
        }
        guard held.count <= Self.longestPart, frame.count <= Self.longestPart else {
            throw .malformed(
                message:
                    "A feature, or what surrounds the features, is longer than \(Self.longestPart >> 20) MiB.",
                offset: consumed)
        }
    }

    /// Hands on what is left when the text has ended.
    mutating func finish(_ body: (Piece) throws(GeoJSONError) -> Void) throws(GeoJSONError) {
        switch state {
        case .start:
            if held.contains(where: { $0 > UInt8(ascii: " ") }) { try explainUnrecognised() }
        case .collection:
            throw .malformed(message: "The file ends within its features.", offset: consumed + held.count)
        case .lines: try cutTexts(separator: Self.lineFeed, isLast: true, body)
        case .sequence: try cutTexts(separator: Self.recordSeparator, isLast: true, body)
        case .trailer: try checkFrame()
        }
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let recordSeparator: UInt8 = 0x1E

    /// Finds out what the text is, once enough of it is there.
    private mutating func begin() throws(GeoJSONError) {
        if held.starts(with: [0xEF, 0xBB, 0xBF]) {
            held.removeFirst(3)
            consumed += 3
        } else if held.count < 3, held.first == 0xEF {
            return
        }
        let spaces: [UInt8] = [0x09, 0x0A, 0x0D, 0x20]
        guard let first = held.first(where: { !spaces.contains($0) }) else { return }
        if first == Self.recordSeparator {
            state = .sequence
            return
        }
        guard first == UInt8(ascii: "{") else {
            throw .malformed(
                message: "A FeatureCollection, features a line each, or a JSON text sequence was expected.",
                offset: consumed)
        }
        switch held.withUnsafeBytes({ CollectionHeader.find(in: $0) }) {
        case .features(let offset):
            frame = Array(held[..<offset]) + [UInt8(ascii: "]")]
            held.removeFirst(offset)
            consumed += offset
            scanned = 0
            scanner = JSONScanner()
            state = .collection
        case .oddFeatures:
            throw .malformed(message: "The file's \"features\" is not an array.", offset: nil)
        case .otherObject: state = firstObjectSpansLines() ? .sequence : .lines
        case .incomplete: break
        }
    }

    /// Whether the text begins with an object that is laid out over several lines: then it is the only one.
    private func firstObjectSpansLines() -> Bool {
        held.withUnsafeBytes { bytes in
            guard let start = bytes.firstIndex(of: UInt8(ascii: "{")) else { return false }
            let text = UnsafeRawBufferPointer(rebasing: bytes[start...])
            var objectEnd = JSONScanner()
            guard let length = objectEnd.scan(text, toDepth: 0) else { return false }
            let object = UnsafeRawBufferPointer(rebasing: text[..<length])
            return object.contains(Self.lineFeed) && (try? JSONReader.parse(object)) != nil
        }
    }

    /// Cuts behind the last feature that is whole; behind the array's end the rest is the trailer.
    private mutating func cutCollection(_ body: (Piece) throws(GeoJSONError) -> Void) throws(GeoJSONError) {
        var cut = 0
        var ended = false
        held.withUnsafeBytes { bytes in
            while scanned < bytes.count, !ended {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[scanned...])
                guard let offset = scanner.scan(rest, toDepth: 0) else {
                    scanned = bytes.count
                    return
                }
                scanned += offset
                if scanner.depth < 0 { ended = true } else { cut = scanned }
            }
        }
        let featuresEnd = ended ? scanned - 1 : cut
        try hand(upTo: featuresEnd, body)
        held.removeFirst(featuresEnd)
        consumed += featuresEnd
        scanned -= featuresEnd
        if ended {
            frame += held.dropFirst()
            held.removeAll()
            state = .trailer
        }
    }

    private mutating func hand(
        upTo end: Int, _ body: (Piece) throws(GeoJSONError) -> Void
    ) throws(GeoJSONError) {
        var failure: GeoJSONError?
        let isFirst = isFirstPiece
        let offset = consumed
        var handed = false
        held.withUnsafeBytes { bytes in
            do throws(GeoJSONError) {
                var start = 0
                while start < end, bytes[start] <= UInt8(ascii: " ") { start += 1 }
                guard start < end else { return }
                // Pieces are cut before commas, so every one but the first must begin with one.
                if !isFirst {
                    guard bytes[start] == UInt8(ascii: ",") else {
                        throw .malformed(
                            message: "A comma between features was expected.", offset: offset + start)
                    }
                    start += 1
                    guard bytes[start..<end].contains(where: { $0 > UInt8(ascii: " ") }) else {
                        throw .malformed(
                            message: "A feature behind the comma was expected.", offset: offset + end)
                    }
                }
                handed = true
                try body(.array(UnsafeRawBufferPointer(rebasing: bytes[start..<end])))
            } catch { failure = error }
        }
        if let failure { throw failure }
        if handed { isFirstPiece = false }
    }

    private mutating func cutTexts(
        separator: UInt8, isLast: Bool, _ body: (Piece) throws(GeoJSONError) -> Void
    ) throws(GeoJSONError) {
        let end = isLast ? held.count : (held.lastIndex(of: separator) ?? 0)
        guard end > 0 else { return }
        var failure: GeoJSONError?
        held.withUnsafeBytes { bytes in
            do throws(GeoJSONError) {
                try body(.texts(UnsafeRawBufferPointer(rebasing: bytes[..<end]), separator: separator))
            } catch { failure = error }
        }
        if let failure { throw failure }
        held.removeFirst(end)
        consumed += end
    }

    /// The text ended before it was clear what it is: an object that does not end, or has no features.
    private func explainUnrecognised() throws(GeoJSONError) {
        do throws(JSONError) {
            _ = try JSONReader.parse(held)
        } catch {
            throw .malformed(message: error.message, offset: consumed + error.offset)
        }
        throw .malformed(message: "No features were found.", offset: nil)
    }

    /// Parses what surrounded the features.
    private func checkFrame() throws(GeoJSONError) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.parse(frame)
        } catch {
            throw .malformed(
                message: "What surrounds the features is not JSON: \(error.message)", offset: nil)
        }
        guard case .object(let object) = value, object["type"] == .string("FeatureCollection") else {
            throw .malformed(message: "The file's \"type\" is not \"FeatureCollection\".", offset: nil)
        }
        // The frame keeps the array that was read, emptied.
        guard object["features"] == .array([]) else {
            throw .malformed(message: "The file has more than one member \"features\".", offset: nil)
        }
    }
}

/// Finds where a collection's features begin.
private enum CollectionHeader {
    enum Outcome {
        /// The offset behind the features' opening bracket.
        case features(Int)
        /// The first object's features are no array.
        case oddFeatures
        /// The first object has no features.
        case otherObject
        /// More text is needed.
        case incomplete
    }

    static func find(in text: UnsafeRawBufferPointer) -> Outcome {
        guard var place = text.firstIndex(of: UInt8(ascii: "{")) else { return .incomplete }
        place += 1
        while true {
            skipSpace(text, &place)
            if place < text.count, text[place] == UInt8(ascii: ",") { place += 1 }
            skipSpace(text, &place)
            guard place < text.count else { return .incomplete }
            guard text[place] == UInt8(ascii: "\"") else { return .otherObject }
            let keyStart = place
            guard skipString(text, &place) else { return .incomplete }
            let isFeatures = isFeatures(text, keyStart + 1..<place - 1)
            skipSpace(text, &place)
            guard place < text.count else { return .incomplete }
            guard text[place] == UInt8(ascii: ":") else { return .otherObject }
            place += 1
            skipSpace(text, &place)
            guard place < text.count else { return .incomplete }
            if isFeatures { return text[place] == UInt8(ascii: "[") ? .features(place + 1) : .oddFeatures }
            guard skipValue(text, &place) else { return .incomplete }
        }
    }

    private static func isFeatures(_ text: UnsafeRawBufferPointer, _ key: Range<Int>) -> Bool {
        let key = UnsafeRawBufferPointer(rebasing: text[key])
        if key.elementsEqual("features".utf8) { return true }
        // A name may be written with escapes.
        guard key.contains(UInt8(ascii: "\\")), key.count <= "features".utf8.count * 6 else { return false }
        let quoted = [UInt8(ascii: "\"")] + key + [UInt8(ascii: "\"")]
        return (try? JSONReader.parse(quoted)) == .string("features")
    }

    private static func skipSpace(_ text: UnsafeRawBufferPointer, _ place: inout Int) {
        while place < text.count, text[place] <= UInt8(ascii: " ") { place += 1 }
    }

    private static func skipString(_ text: UnsafeRawBufferPointer, _ place: inout Int) -> Bool {
        place += 1
        while place < text.count {
            if text[place] == UInt8(ascii: "\"") {
                place += 1
                return true
            }
            place += text[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return false
    }

    /// False where the value does not end within the text.
    private static func skipValue(_ text: UnsafeRawBufferPointer, _ place: inout Int) -> Bool {
        switch text[place] {
        case UInt8(ascii: "\""): return skipString(text, &place)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            var scanner = JSONScanner()
            guard let length = scanner.scan(UnsafeRawBufferPointer(rebasing: text[place...]), toDepth: 0)
            else {
                return false
            }
            place += length
            return true
        default:
            while place < text.count {
                if text[place] == UInt8(ascii: ",") || text[place] == UInt8(ascii: "}") { return true }
                place += 1
            }
            return false
        }
    }
}
