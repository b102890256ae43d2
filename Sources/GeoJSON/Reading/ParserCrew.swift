// SPDX-License-Identifier: MIT

/// Parses pieces on several threads and adds them to a builder in their order. Used by one thread at a time.
final class ParserCrew {
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
    /// - Parameter more: called if no piece waits. Called by several threads, one at a time, while others
    ///   parse.
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
