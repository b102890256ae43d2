// SPDX-License-Identifier: MIT
import JSON

/// Cuts a text of features that comes in pieces into batches.
///
/// The text is a FeatureCollection, an array of features, features one after another (newline-delimited or
/// otherwise), a JSON text sequence (RFC 8142), or one feature. Memory follows the batches, not the file: what
/// surrounds a collection's features is scanned and forgotten. Only brackets decide where a feature ends.
///
/// Each feature is checked to be JSON, since a message that is not is of no call to the server, and the import
/// would go on without it. What else may be wrong with a feature is left for the server to name.
///
/// Use: `push` each piece, then take `next()` until it is nil; in the end `finish()`, then `next()` again.
struct FeatureBatches {
    private enum State {
        case start, sequence, trailer
        /// A FeatureCollection's features, or a bare array's, behind which nothing may follow.
        case collection(isBare: Bool)
    }

    /// No single feature, and nothing before the features, may be longer, in bytes.
    static let longestPart = 15 << 20

    /// A feature lies three levels deep in its message.
    private static let maximumDepth = JSONReader.maximumDepth - 3

    private let batchSize: Int
    private var state = State.start
    private var held: [UInt8] = []
    /// Where what is not in a batch yet begins in `held`.
    private var start = 0
    /// How many of the held bytes the scanner has seen.
    private var scanned = 0
    private var scanner = JSONScanner()
    private var batch: [UInt8] = []
    private var isFinished = false
    /// How many bytes were let go of before those held.
    private var released = 0
    /// How many features the batches handed out so far have, as far as brackets tell.
    private(set) var featureCount = 0

    /// Features left out because they are no JSON.
    private(set) var unreadableCount = 0
    private let dropsUnreadable: Bool
    private let parser = JSONParser()

    /// - Parameters:
    ///   - batchSize: how large a batch is, in bytes; passed by one feature at most.
    ///   - dropsUnreadable: whether a feature that is no JSON is left out and counted, instead of being an error.
    init(batchSize: Int, dropsUnreadable: Bool = false) {
        self.batchSize = batchSize
        self.dropsUnreadable = dropsUnreadable
        batch.reserveCapacity(batchSize + 4096)
    }

    /// Takes in a piece of text.
    mutating func push(_ text: UnsafeRawBufferPointer) {
        held.removeFirst(start)
        released += start
        scanned -= start
        start = 0
        held.append(contentsOf: text)
    }

    /// Says that the text has ended.
    mutating func finish() { isFinished = true }

    /// The next full batch (what stands between the brackets of an array), and the last one when the text has
    /// ended; nil where more text is needed or nothing is left.
    mutating func next() throws(FeatureTextError) -> [UInt8]? {
        if case .start = state { try begin() }
        while batch.count < batchSize, scanned < held.count {
            if case .start = state { break }
            if case .trailer = state {
                try skipTrailer()
                break
            }
            guard scanToBracket() else { break }
            if scanner.depth < 0 {
                try endFeatures()
            } else {
                try take(upTo: scanned)
            }
        }
        if batch.count >= batchSize { return takeBatch() }
        guard held.count - start <= Self.longestPart else {
            throw error("a feature, or what stands before the features, is longer than 15 MiB")
        }
        guard isFinished else { return nil }
        try checkEnd()
        return batch.isEmpty ? nil : takeBatch()
    }

    private mutating func takeBatch() -> [UInt8] {
        defer { batch.removeAll(keepingCapacity: false) }
        return batch
    }

    private func error(_ message: String, at place: Int? = nil) -> FeatureTextError {
        FeatureTextError(message: message, offset: released + (place ?? start))
    }

    // MARK: The beginning

    private mutating func begin() throws(FeatureTextError) {
        if held.starts(with: [0xEF, 0xBB, 0xBF]), released == 0 {
            start = 3
        } else if held.count < 3, held.first == 0xEF, !isFinished {
            return
        }
        guard let first = held[start...].firstIndex(where: Self.isContent) else { return }
        switch held[first] {
        case UInt8(ascii: "["): enter(.collection(isBare: true), at: first + 1)
        case UInt8(ascii: "{"):
            let head = held.withUnsafeBytes { CollectionHead.find(in: $0, from: first) }
            switch head {
            case .features(let offset): enter(.collection(isBare: false), at: offset)
            case .otherObject: enter(.sequence, at: start)
            case .incomplete: if isFinished { enter(.sequence, at: start) }
            }
        default:
            throw error("this is not GeoJSON: a FeatureCollection or features were expected", at: first)
        }
    }

    private mutating func enter(_ state: State, at offset: Int) {
        self.state = state
        start = offset
        scanned = offset
    }

    // MARK: Features

    /// Scans to the next bracket that closes a feature or the collection; false where the text held ends first.
    private mutating func scanToBracket() -> Bool {
        let from = scanned
        let offset = held.withUnsafeBytes { bytes in
            scanner.scan(UnsafeRawBufferPointer(rebasing: bytes[from...]), toDepth: 0)
        }
        scanned = offset.map { from + $0 } ?? held.count
        return offset != nil
    }

    /// Puts what is held up to there into the batch, behind a comma.
    private mutating func take(upTo end: Int) throws(FeatureTextError) {
        var place = start
        while place < end, !Self.isContent(held[place]) { place += 1 }
        if case .collection = state, featureCount + unreadableCount > 0 {
            guard place < end, held[place] == UInt8(ascii: ",") else {
                throw error("a comma between features was expected", at: place)
            }
            place += 1
            while place < end, !Self.isContent(held[place]) { place += 1 }
        }
        start = end
        if let problem = problem(in: place..<end), !areValues(place..<end) {
            guard dropsUnreadable else {
                throw error("feature \(featureCount): \(problem.message)", at: place + problem.offset)
            }
            unreadableCount += 1
            return
        }
        if !batch.isEmpty { batch.append(UInt8(ascii: ",")) }
        batch.append(contentsOf: held[place..<end])
        featureCount += 1
    }

    /// Why the text is no JSON that the server would take; nil where it is.
    private func problem(in range: Range<Int>) -> JSONError? {
        held.withUnsafeBytes { bytes in
            Self.problem(of: UnsafeRawBufferPointer(rebasing: bytes[range]), parser, depth: Self.maximumDepth)
        }
    }

    /// Whether the text is several values with commas between them: values without brackets, such as null, stand
    /// before an object. They are no features, but that is for the server to say.
    private func areValues(_ range: Range<Int>) -> Bool {
        guard case .collection = state else { return false }
        let array = [UInt8(ascii: "[")] + held[range] + [UInt8(ascii: "]")]
        return array.withUnsafeBytes { Self.problem(of: $0, parser, depth: Self.maximumDepth + 1) == nil }
    }

    private static func problem(of text: UnsafeRawBufferPointer, _ parser: JSONParser, depth: Int)
        -> JSONError?
    {
        do throws(JSONTapeError<Never>) {
            try parser.withTape(of: text, maximumDepth: depth) { _ in }
            return nil
        } catch {
            if case .json(let problem) = error { return problem }
            return nil
        }
    }

    private mutating func endFeatures() throws(FeatureTextError) {
        guard case .collection(let isBare) = state else {
            throw error("a bracket closes that was never opened", at: scanned - 1)
        }
        // Behind the last object there may still be values without brackets: no features, but to be refused.
        if held[start..<(scanned - 1)].contains(where: Self.isContent) { try take(upTo: scanned - 1) }
        start = scanned
        scanner = JSONScanner()
        state = .trailer
        trailerDepth = isBare ? 0 : 1
    }

    // MARK: The end

    /// How many brackets are open behind the features.
    private var trailerDepth = 0

    private mutating func skipTrailer() throws(FeatureTextError) {
        while scanned < held.count, trailerDepth > 0 {
            guard scanToBracket() else { break }
            if scanner.depth < 0 {
                trailerDepth -= 1
                scanner = JSONScanner()
            }
        }
        if trailerDepth == 0, let extra = held[scanned...].firstIndex(where: Self.isContent) {
            throw error("more text follows the FeatureCollection", at: extra)
        }
        scanned = held.count
        start = scanned
    }

    private func checkEnd() throws(FeatureTextError) {
        switch state {
        case .start: throw error("the text is empty: a FeatureCollection or features were expected")
        case .collection: throw error("the text ends within its features", at: held.count)
        case .sequence where held[start...].contains(where: Self.isContent):
            throw error("the text ends within a feature")
        case .trailer where trailerDepth > 0:
            throw error("the text ends before the FeatureCollection does", at: held.count)
        default: break
        }
    }

    /// Neither space nor the separator of RFC 8142.
    private static func isContent(_ byte: UInt8) -> Bool { byte > UInt8(ascii: " ") }
}

/// A text that cannot be cut into features.
public struct FeatureTextError: Error, Sendable, Equatable, CustomStringConvertible {
    public let message: String
    /// Where, in bytes from the text's beginning (inflated, where it was compressed).
    public let offset: Int

    public var description: String { "\(message) (at byte \(offset))" }
}
