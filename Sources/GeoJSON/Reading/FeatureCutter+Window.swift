// SPDX-License-Identifier: MIT
import JSON

extension FeatureCutter {
    /// What to make a piece of from a window: the text before its end, after that which was held.
    struct WindowCut {
        let held: [UInt8]
        let end: Int
        let form: Piece.Form
        let foreignReferenceSystem: String?
        let records: RecordMembers?
    }

    /// Whether it helps to scan text ahead.
    var usesScans: Bool {
        switch state {
        case .collection, .objects: true
        case .start, .lines, .sequence, .table, .trailer: false
        }
    }

    /// Cuts the next part of the text, of which only what follows the last complete feature is copied.
    ///
    /// - Returns: nil if there is more to do than that, and nothing has changed: then the window's text must
    ///   be pushed.
    /// - Complexity: O(one feature) if the window has been scanned.
    mutating func cut(_ window: FileWindow) -> WindowCut? {
        window.text.withUnsafeBytes { text in
            guard held.count + text.count >= nextCut else { return nil }
            return switch state {
            case .collection where !isFirstPiece: cutAtBracket(text, window.scan, .array)
            case .objects: cutAtBracket(text, window.scan, .objects)
            case .lines: cut(text, at: Self.lineFeed)
            case .sequence: cut(text, at: Self.recordSeparator)
            case .start, .collection, .table, .trailer: nil
            }
        }
    }

    private mutating func cutAtBracket(
        _ text: UnsafeRawBufferPointer, _ scan: JSONMiddleScan?, _ form: Piece.Form
    ) -> WindowCut? {
        guard scanned == held.count else { return nil }
        var ahead = scanner
        let last = scan.flatMap { ahead.skip($0) } ?? ahead.scanToLast(text).last
        guard last > 0, ahead.depth >= 0, let cut = take(text, upTo: last, form) else { return nil }
        (scanner, scanned) = (ahead, held.count)
        return cut
    }

    private mutating func cut(_ text: UnsafeRawBufferPointer, at separator: UInt8) -> WindowCut? {
        text.lastIndex(of: separator).flatMap { take(text, upTo: $0, .texts(separator: separator)) }
    }

    private mutating func take(
        _ text: UnsafeRawBufferPointer, upTo end: Int, _ form: Piece.Form
    ) -> WindowCut? {
        let rest = text[end...]
        guard droppedLines == 0, rest.count + (frame?.count ?? 0) <= longestPart, held.count + end > 0 else {
            return nil
        }
        let cut = WindowCut(
            held: held, end: end, form: form, foreignReferenceSystem: foreignReferenceSystem,
            records: records)
        consumed += held.count + end
        held = Array(rest)
        waitForMore()
        return cut
    }
}
