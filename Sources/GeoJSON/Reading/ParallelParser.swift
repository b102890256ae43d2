// SPDX-License-Identifier: MIT
import Dispatch
import Synchronization
import SystemSupport

/// Parses pieces on several threads and adds them to a builder in their order. Used by one thread at a time.
final class ParallelParser {
    private let threads: Int
    private let window: Int
    private var parsers: [PieceParser] = []
    private var waiting: [PieceText] = []
    private var waitingBytes = 0
    private var lines = PieceLines()

    /// The most small pieces to gather.
    private static let mostWaiting = 64

    init(threads: Int, window: Int) { (self.threads, self.window) = (threads, window) }

    /// Keeps a piece until `flush`.
    func take(_ piece: consuming PieceText) {
        waitingBytes += piece.text.count
        waiting.append(piece)
    }

    /// Whether enough pieces wait to keep all threads busy.
    var isFull: Bool {
        waiting.count >= threads && (waitingBytes >= window || waiting.count >= Self.mostWaiting)
    }

    /// Adds the waiting pieces and those that `more` yields.
    ///
    /// - Parameter more: called if no piece waits, with memory for a piece's text; takes further pieces, and returns
    ///   false if there are none. Called by several threads, one at a time, while others parse.
    func flush(
        into builder: inout FeatureStoreBuilder, more: (_ buffer: [UInt8]) throws(GeoJSONError) -> Bool = { _ in false }
    ) throws(GeoJSONError) {
        // A thread that is ahead of the others parks what it has parsed and continues with another parser.
        while parsers.count < (threads > 1 ? 2 * threads : 1) { parsers.append(builder.makeParser()) }
        try run(
            next: { (buffer) throws(GeoJSONError) -> PieceText? in
                var (buffer, isMore) = (buffer, true)
                while waiting.isEmpty, isMore {
                    isMore = try more(buffer)
                    buffer = []
                }
                return waiting.isEmpty ? nil : waiting.removeFirst()
            },
            admit: { (parsed, piece) throws(GeoJSONError) in
                builder.note(foreignReferenceSystem: piece.foreignReferenceSystem)
                let line = lines.first(of: piece)
                return try builder.admit(parsed) { line + piece.lines(before: $0) }
            })
        waitingBytes = 0
    }

    private func run(next: AssemblyLine.Next, admit: AssemblyLine.Admit) throws(GeoJSONError) {
        let failure = withoutActuallyEscaping(next) { next in
            withoutActuallyEscaping(admit) { admit in
                let line = AssemblyLine(parsers, next: next, admit: admit)
                Parallel(.shared, threads: threads).forEach(below: threads) { _ in line.work() }
                return line.failure
            }
        }
        if let failure { throw failure }
    }
}

/// One parallel run over pieces. Each thread takes a piece and parses it. The thread with the next one in the
/// pieces' order admits it, which copies its rows.
///
/// Errors also follow the pieces' order: the first fault of the text is the result for any number of threads,
/// and no later piece is admitted.
///
/// Invariant: `next` is called only while `source` is locked, `admit` only while `order` is. A parser is used by the
/// thread that took it from `idle`, or is parked in `order`, from which one thread takes it. So it may be shared.
private final class AssemblyLine: @unchecked Sendable {
    typealias Next = (_ buffer: [UInt8]) throws(GeoJSONError) -> PieceText?
    typealias Admit = (ParsedFeatures, PieceText) throws(GeoJSONError) -> Void

    private let next: Next
    private let admit: Admit
    private let source = Mutex(Source())
    private let order = Mutex(Order())
    private let idle: Mutex<Idle>
    /// Counts idle parsers.
    private let idleCount: DispatchSemaphore

    private struct Source {
        /// The number of pieces taken.
        var taken = 0
        var isExhausted = false
    }

    /// Pieces that have been parsed but not admitted. Only the holder of the lock around it uses it, and a
    /// parked parser is used by no thread until one takes it from here, so it may be sent.
    private struct Order: @unchecked Sendable {
        /// The number of the next piece to admit.
        var next = 0
        var parked: [Int: Parked] = [:]
        var failure: GeoJSONError?
    }

    /// Idle parsers. A thread takes one under the lock and is then its only user, so it may be sent.
    private struct Idle: @unchecked Sendable {
        var parsers: [PieceParser]
    }

    private enum Parked {
        case parsed(PieceParser)
        /// There is no such piece, because the text before it has a fault.
        case failed(GeoJSONError)
    }

    /// - Parameters:
    ///   - next: returns the next piece; nil at the end. Called by several threads, one at a time.
    ///   - admit: called for each piece in order, by several threads, one at a time.
    init(_ parsers: [PieceParser], next: @escaping Next, admit: @escaping Admit) {
        (self.next, self.admit) = (next, admit)
        idle = Mutex(Idle(parsers: parsers))
        idleCount = DispatchSemaphore(value: 0)
        for _ in parsers { idleCount.signal() }
    }

    /// The text's first fault, valid when all threads have ended.
    var failure: GeoJSONError? { order.withLock { $0.failure } }

    /// Parses pieces until there are none.
    ///
    /// It always ends, since the first piece that is not admitted has a parser and a thread.
    func work() {
        while let parser = takeIdle() {
            guard let number = takePiece(parser) else { return giveBack(parser) }
            parser.parsePiece()
            park(.parsed(parser), number)
        }
    }

    private func takeIdle() -> PieceParser? {
        idleCount.wait()
        return idle.withLock { $0.parsers.popLast() }
    }

    private func giveBack(_ parser: PieceParser) {
        idle.withLock { $0.parsers.append(parser) }
        idleCount.signal()
    }

    /// Assigns the next piece to the parser and returns its number; nil at the end.
    private func takePiece(_ parser: PieceParser) -> Int? {
        let (number, failure) = source.withLock { source -> (Int, GeoJSONError?) in
            parser.piece = nil
            guard !source.isExhausted else { return (0, nil) }
            defer { source.taken += 1 }
            do throws(GeoJSONError) {
                parser.piece = try next(parser.takeBuffer())
                source.isExhausted = parser.piece == nil
                return (source.taken, nil)
            } catch {
                source.isExhausted = true
                return (source.taken, error)
            }
        }
        if let failure { park(.failed(failure), number) }
        return parser.piece == nil ? nil : number
    }

    private func park(_ parked: Parked, _ number: Int) {
        order.withLock { $0.parked[number] = parked }
        admitParked()
    }

    /// Admits the pieces that are next in order.
    private func admitParked() {
        while let parser = admitNext() {
            parser.reset()
            giveBack(parser)
        }
    }

    /// Admits the next piece, if it has been parsed, and returns its parser.
    private func admitNext() -> PieceParser? {
        var isFailed = false
        let outcome = order.withLock { order -> PieceParser? in
            guard let parked = order.parked.removeValue(forKey: order.next) else { return nil }
            order.next += 1
            switch parked {
            case .failed(let error):
                order.failure = order.failure ?? error
                return nil
            case .parsed(let parser):
                guard order.failure == nil, let piece = parser.piece else { return parser }
                do throws(GeoJSONError) { try admit(parser.result, piece) } catch {
                    order.failure = error
                    isFailed = true
                }
                return parser
            }
        }
        if isFailed { source.withLock { $0.isExhausted = true } }
        return outcome
    }
}
