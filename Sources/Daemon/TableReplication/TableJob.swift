// SPDX-License-Identifier: MIT
import GeoJSON
import PostgresFeed
import SourceEngine
import SystemSupport

/// Work on the pool for a source that follows a table.
enum TableJob {
    /// Why a job failed.
    enum Failure: Error {
        case source(SourceError)
        /// Only a new copy helps; the reason, as a sentence.
        case needsCopy(String)
    }

    /// Makes transactions visible and durable.
    ///
    /// - Returns: the number of rows skipped because they are not features of the source, by reason.
    static func apply(
        _ transactions: [FeedTransaction], to source: Source, _ cancellation: Cancellation
    ) throws(Failure) -> [String: Int] {
        guard let last = transactions.last else { return [:] }
        var batch = ChangeBatch()
        do throws(SourceError) {
            return try source.follow(to: LogMark(last.position), cancellation) { (step) throws(SourceError) in
                batch = ChangeBatch()
                for transaction in transactions { try gather(transaction, into: &batch, &step) }
                try batch.flush(into: &step)
            }
        } catch {
            if let row = batch.incompleteRow {
                throw .needsCopy(
                    "large values that an update of row \(row) left unchanged are not stored here; REPLICA IDENTITY FULL avoids "
                        + "copies for this reason")
            }
            throw .source(error)
        }
    }

    private static func gather(
        _ transaction: FeedTransaction, into batch: inout ChangeBatch, _ step: inout LogStep
    ) throws(SourceError) {
        do {
            try transaction.forEach { try batch.add($0, to: &step) }
        } catch let error as SourceError {
            throw error
        } catch {
            throw .stateNotWritable("the spool of a large transaction can't be read: \(error)")
        }
    }

    /// Imports rows of a copy. Safe concurrently with other pieces of the same copy.
    static func gather(_ piece: CopyPiece, _ number: Int, into features: FeatureImport) throws(Failure) -> CopyCount {
        try converted { () throws(SourceError) in
            try features.take(piece: number) { (found) in
                piece.read { text, parts in
                    func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { .init(rebasing: text[range]) }
                    let known = PieceParser.PointParts(
                        identifier: part(parts.identifier), coordinates: part(parts.coordinates),
                        properties: part(parts.properties), longitude: parts.longitude, latitude: parts.latitude)
                    found.append(text, parts: parts.isKnownValid ? known : nil)
                }
            }
        }
    }

    /// Runs `body` and converts its error.
    static func converted<Value>(_ body: () throws(SourceError) -> Value) throws(Failure) -> Value {
        do throws(SourceError) { return try body() } catch {
            // The options were changed while the table was copied.
            if case .conflict(let message) = error { throw .needsCopy(message) }
            throw .source(error)
        }
    }
}

extension LogMark {
    /// The mark of a feed's position.
    init(_ position: FeedPosition) {
        self.init(position: position.log.description, text: position.description)
    }
}
