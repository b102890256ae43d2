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

    var isParallel: Bool { threads > 1 }

    /// The most small pieces to gather.
    private static let mostWaiting = 64

    init(threads: Int, window: Int) { (self.threads, self.window) = (threads, window) }

    /// Keeps a piece until `flush`.
    ///
    /// - Parameter buffer: memory for its text.
    func take(_ piece: FeatureCutter.Piece, buffer: consuming [UInt8] = []) {
        waiting.append(PieceText(piece, buffer: buffer))
        waitingBytes += piece.bytes.count
    }

    /// Whether enough pieces wait to keep all threads busy.
    var isFull: Bool {
        waiting.count >= threads && (waitingBytes >= window || waiting.count >= Self.mostWaiting)
    }

    /// Adds the waiting pieces.
    func flush(into builder: inout FeatureStoreBuilder) throws(GeoJSONError) {
        try flush(into: &builder) { (_) throws(GeoJSONError) in .end }
    }

    /// Adds the waiting pieces and those that `more` yields.
    ///
    /// - Parameter more: called if no piece waits. Called by several threads, one at a time, while others parse.
    func flush(
        into builder: inout FeatureStoreBuilder,
        more: (_ hand: consuming PieceWork.Hand) throws(GeoJSONError) -> PieceWork.Step
    ) throws(GeoJSONError) {
        let work = PieceWork(
            rows: builder.rows, parsers: parsers,
            makeParser: { [maker = builder.parserMaker] in maker.makeParser() })
        try work.run(
            threads: threads,
            next: { (hand) throws(GeoJSONError) -> PieceWork.Step in
                if case .buffer = hand, !waiting.isEmpty { return .piece(waiting.removeFirst()) }
                let step = try more(hand)
                guard case .again = step, !waiting.isEmpty else { return step }
                return .piece(waiting.removeFirst())
            },
            admit: { (parsed, piece) throws(GeoJSONError) in
                builder.note(foreignReferenceSystem: piece.foreignReferenceSystem)
                let line = lines.first(of: piece)
                return try builder.admit(parsed) { line + piece.lines(before: $0) }
            })
        parsers = work.parsers
        waitingBytes = 0
    }
}

/// One parallel run over pieces. Each thread takes a piece and parses it. The thread with the next one in the
/// pieces' order admits it, which assigns its rows a part of the columns. Rows are copied at the same time.
///
/// Errors also follow the pieces' order: the first fault of the text is the result for any number of threads,
/// and no later piece is admitted.
final class PieceWork {
    /// What a thread brings when it asks for the next piece.
    enum Hand {
        /// Memory for a text.
        case buffer([UInt8])
        /// A window that it has read, whose turn it is.
        case window(FileWindow)
    }

    /// What a thread does next.
    enum Step {
        /// Parse a piece.
        case piece(PieceText)
        /// Parse a piece that is a part of the window.
        case cut(FeatureCutter.WindowCut)
        /// Read a window, wait for its turn, and bring it.
        case read(FileWindow)
        /// Ask again.
        case again
        case end
    }

    typealias Next = (_ hand: consuming Hand) throws(GeoJSONError) -> Step
    typealias Admit = (ParsedFeatures, PieceText) throws(GeoJSONError) -> GatheredRows.Reservation

    private let rows: GatheredRows
    private let makeParser: () -> PieceParser
    /// Parsers for the next run.
    private(set) var parsers: [PieceParser]

    init(rows: GatheredRows, parsers: [PieceParser], makeParser: @escaping () -> PieceParser) {
        (self.rows, self.parsers, self.makeParser) = (rows, parsers, makeParser)
    }

    /// - Parameters:
    ///   - next: returns the next step. Called by several threads, one at a time; for windows in their order.
    ///   - admit: called for each piece in order, by several threads, one at a time.
    func run(threads: Int, next: Next, admit: Admit) throws(GeoJSONError) {
        // A thread that is ahead of the others parks what it has parsed and continues with another parser.
        let count = threads > 1 ? 2 * threads : 1
        while parsers.count < count { parsers.append(makeParser()) }
        let failure = withoutActuallyEscaping(next) { next in
            withoutActuallyEscaping(admit) { admit in
                let line = AssemblyLine(rows, parsers, threads: threads, next, admit)
                Parallel(.shared, threads: threads).forEach(below: threads) { _ in line.work() }
                return line.failure
            }
        }
        if let failure { throw failure }
    }
}

/// What the threads of a run share.
///
/// Invariant: `next` is called only while `source` is locked, `admit` only while `order` is. A parser is used
/// by the thread that took it from `idle`, or is parked in `order`, from which one thread takes it. So it may
/// be shared.
private final class AssemblyLine: @unchecked Sendable {
    private let rows: GatheredRows
    private let next: PieceWork.Next
    private let admit: PieceWork.Admit
    private let source = Mutex(Source())
    private let order = Mutex(Order())
    private let idle: Mutex<Idle>
    /// Counts idle parsers.
    private let idleCount: DispatchSemaphore
    /// Signalled when it is the turn of the window with this number, modulo the number of threads: each has
    /// one window at most.
    private let turns: [DispatchSemaphore]

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

    /// Idle parsers. A thread takes one under the lock and is then its only user, so it may be
    /// sent.
    private struct Idle: @unchecked Sendable {
        var parsers: [PieceParser]
    }

    private enum Parked {
        case parsed(PieceParser)
        /// There is no such piece, because the text before it has a fault.
        case failed(GeoJSONError)
    }

    init(
        _ rows: GatheredRows, _ parsers: [PieceParser], threads: Int, _ next: @escaping PieceWork.Next,
        _ admit: @escaping PieceWork.Admit
    ) {
        (self.rows, self.next, self.admit) = (rows, next, admit)
        turns = (0..<threads).map { _ in DispatchSemaphore(value: 0) }
        turns[0].signal()
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
            order.withLock { $0.parked[number] = .parsed(parser) }
            admitParked()
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
        while true {
            let (step, number) = ask(.buffer(parser.takeBuffer()))
            switch step {
            case .piece(let piece):
                parser.piece = piece
                return number
            case .read(let window):
                window.read()
                if let number = takePiece(of: window, parser) { return number }
            case .cut, .again: continue
            case .end: return nil
            }
        }
    }

    /// Waits for the window's turn, which comes since the window before it is in the hands of a running
    /// thread.
    private func takePiece(of window: FileWindow, _ parser: PieceParser) -> Int? {
        let turn = window.number
        turns[turn % turns.count].wait()
        let (step, number) = ask(.window(window))
        turns[(turn + 1) % turns.count].signal()
        switch step {
        case .piece(let piece): parser.piece = piece
        case .cut(let cut): parser.piece = PieceText(cut, of: window)
        case .read, .again, .end: return nil
        }
        return number
    }

    /// Asks for the next step, and numbers the piece in it.
    private func ask(_ hand: PieceWork.Hand) -> (PieceWork.Step, number: Int) {
        let (step, number, failure) = source.withLock { source -> (PieceWork.Step, Int, GeoJSONError?) in
            guard !source.isExhausted else { return (.end, 0, nil) }
            var (step, failure) = (PieceWork.Step.end, GeoJSONError?.none)
            do throws(GeoJSONError) { step = try next(hand) } catch { failure = error }
            switch step {
            case .piece, .cut: source.taken += 1
            case .end: source.isExhausted = true
            case .read, .again: break
            }
            return (step, failure == nil ? source.taken - 1 : source.taken, failure)
        }
        if let failure {
            order.withLock { $0.parked[number] = .failed(failure) }
            admitParked()
        }
        return (step, number)
    }

    /// Admits the pieces that are next in order, and copies their rows.
    private func admitParked() {
        while let (parser, part) = admitNext() {
            if let part { rows.fill(part, from: parser.result) }
            parser.reset()
            giveBack(parser)
        }
    }

    private func admitNext() -> (PieceParser, GatheredRows.Reservation?)? {
        var isFailed = false
        let outcome = order.withLock { order -> (PieceParser, GatheredRows.Reservation?)? in
            guard let parked = order.parked.removeValue(forKey: order.next) else { return nil }
            order.next += 1
            switch parked {
            case .failed(let error):
                order.failure = order.failure ?? error
                return nil
            case .parsed(let parser):
                guard order.failure == nil, let piece = parser.piece else { return (parser, nil) }
                do throws(GeoJSONError) { return (parser, try admit(parser.result, piece)) } catch {
                    order.failure = error
                    isFailed = true
                    return (parser, nil)
                }
            }
        }
        if isFailed { source.withLock { $0.isExhausted = true } }
        return outcome
    }
}
