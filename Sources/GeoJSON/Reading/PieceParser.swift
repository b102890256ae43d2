// SPDX-License-Identifier: MIT
import JSON

/// Parses the features of a piece of text. Used by one thread at a time.
///
/// A text that is not JSON is one invalid feature. The texts around it are read.
final class PieceParser {
    let result: ParsedFeatures
    private let parser: FeatureParser
    private var table: TableParser
    /// The piece to parse, or the parsed one.
    var piece: PieceText?
    /// The memory of an earlier piece's text.
    private var buffer: [UInt8] = []
    /// The memory of an earlier piece's text before it was joined.
    private var cutBuffer: [UInt8] = []

    init(rules: FeatureRules, result: ParsedFeatures, maximumDepth: Int = JSONReader.maximumDepth) {
        self.result = result
        parser = FeatureParser(rules: rules, maximumDepth: maximumDepth)
        table = TableParser(rules: rules)
    }

    /// Parses the text of a JSON array or of one feature, replacing earlier results.
    func parse(features json: LentBytes) throws(JSONError) {
        result.removeAll()
        try parser.parse(json, into: result)
    }

    /// Parses the piece, replacing earlier results.
    func parsePiece() {
        piece?.join(reusing: &cutBuffer)
        if let piece { parse(piece) }
    }

    /// Removes the piece and its results, but keeps the memory.
    func reset() {
        buffer = piece.take()?.text ?? []
        result.removeAll()
    }

    /// Memory for a piece's text.
    func takeBuffer() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &buffer)
        return taken
    }

    /// Parses a piece, replacing earlier results.
    func parse(_ piece: PieceText) {
        result.removeAll()
        piece.text.lend { text in
            if let header = piece.header { return table.parse(text, header, into: result) }
            if let texts = piece.texts {
                if (try? parser.parse(text, into: result, expecting: texts)) == nil { parse(texts, of: text) }
            } else if (try? parser.parse(text, into: result)) == nil {
                guard let values = PieceText.values(in: text) else {
                    result.removeAll()
                    return result.lacksComma = true
                }
                parse(values, of: text)
            }
        }
    }

    /// Parses a text of one feature and adds it to the results.
    func parse(single text: LentBytes) {
        if (try? parser.parse(single: text, at: 0, into: result)) == nil {
            result.addFault(.badJSON, identifier: nil, range: 0..<text.count)
        }
    }

    /// The fault of a text that is not acceptable JSON.
    private static func fault(of text: LentBytes, _ error: JSONError) -> FeatureFault {
        if error.kind == .depth { return .tooDeep }
        return JSONText.isUTF8(text) ? .badJSON : .badEncoding
    }

    /// Parses each text separately, since one that is not JSON spoils the joined array.
    private func parse(_ texts: [Range<Int>], of piece: LentBytes) {
        result.removeAll()
        for range in texts {
            let text = piece.part(range)
            do throws(JSONError) {
                try parser.parse(single: text, at: range.lowerBound, into: result)
            } catch {
                result.addFault(Self.fault(of: text, error), identifier: nil, range: range)
            }
        }
    }
}
