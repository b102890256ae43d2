// SPDX-License-Identifier: MIT
import Dispatch

/// Parses several pieces at once, and adds them to a builder in their order. Used by one thread at a time.
final class ParserCrew {
    private let threads: Int
    private let window: Int
    private var parsers: [PieceParser] = []
    private var waiting: [PieceText] = []
    private var waitingBytes = 0

    /// Small pieces are gathered, but not without end.
    private static let mostWaiting = 64

    init(threads: Int, window: Int) { (self.threads, self.window) = (threads, window) }

    func take(
        _ piece: FeatureCutter.Piece, into builder: inout FeatureStoreBuilder
    ) throws(GeoJSONError) {
        let text = PieceText(piece)
        if text.isEmpty { return }
        waiting.append(text)
        waitingBytes += piece.bytes.count
        let isEnough = waitingBytes >= window || waiting.count >= Self.mostWaiting
        if waiting.count >= threads, isEnough { try flush(into: &builder) }
    }

    /// Parses the pieces that wait, as many at once as there are threads.
    func flush(into builder: inout FeatureStoreBuilder) throws(GeoJSONError) {
        while parsers.count < min(threads, waiting.count) { parsers.append(builder.makeParser()) }
        for start in stride(from: 0, to: waiting.count, by: max(1, parsers.count)) {
            let pieces = waiting[start..<min(start + parsers.count, waiting.count)]
            let shared = Shared(parsers: parsers, pieces: Array(pieces))
            if pieces.count == 1 {
                shared.parse(0)
            } else {
                DispatchQueue.concurrentPerform(iterations: pieces.count) { shared.parse($0) }
            }
            for (parser, piece) in zip(parsers, pieces) {
                builder.note(foreignReferenceSystem: piece.foreignReferenceSystem)
                try builder.add(parser.result) { piece.line(of: $0) }
            }
        }
        waiting.removeAll(keepingCapacity: true)
        waitingBytes = 0
    }

    /// Carries parsers to threads that use those of one index only; that is why it may be shared.
    private struct Shared: @unchecked Sendable {
        let parsers: [PieceParser]
        let pieces: [PieceText]

        func parse(_ index: Int) { parsers[index].parse(pieces[index]) }
    }
}
