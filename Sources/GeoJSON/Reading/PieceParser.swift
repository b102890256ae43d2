// SPDX-License-Identifier: MIT
import JSON

/// Parses the features of a piece of text, or features one by one, to be admitted by a builder. Used by one thread at
/// a time.
///
/// A text that is not JSON is one invalid feature. The texts around it are read.
public final class PieceParser {
    let result: ParsedFeatures
    private let rules: FeatureRules
    private let parser: FeatureParser
    private var table: TableParser
    /// The piece to parse, or the parsed one.
    var piece: PieceText?
    /// The memory of an earlier piece's text.
    private var buffer: [UInt8] = []
    /// The memory of an earlier piece's text before it was joined.
    private var cutBuffer: [UInt8] = []

    init(rules: FeatureRules, result: ParsedFeatures, maximumDepth: Int = JSONReader.maximumDepth) {
        (self.result, self.rules) = (result, rules)
        parser = FeatureParser(rules: rules, maximumDepth: maximumDepth)
        table = TableParser(rules: rules)
    }

    /// Parses the text of a JSON array or of one feature, replacing earlier results.
    func parse(features json: Span<UInt8>) throws(JSONError) {
        result.removeAll()
        try json.withUnsafeBytes { (json) throws(JSONError) in try parser.parse(json, into: result) }
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
        piece.text.withUnsafeBytes { text in
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

    /// The fault of a text that is not acceptable JSON.
    private static func fault(of text: UnsafeRawBufferPointer, _ error: JSONError) -> FeatureFault {
        if error.kind == .depth { return .tooDeep }
        return JSONText.isUTF8(text) ? .badJSON : .badEncoding
    }

    /// Parses each text separately, since one that is not JSON spoils the joined array.
    private func parse(_ texts: [Range<Int>], of piece: UnsafeRawBufferPointer) {
        result.removeAll()
        for range in texts {
            let text = UnsafeRawBufferPointer(rebasing: piece[range])
            do throws(JSONError) {
                try parser.parse(single: text, at: range.lowerBound, into: result)
            } catch {
                let fault = Self.fault(of: text, error)
                let word = fault == .badJSON ? ForeignNumber.find(in: text) : nil
                result.addFault(
                    fault, identifier: nil, range: range,
                    foreignNumber: word.map {
                        (String(decoding: text[$0], as: UTF8.self), range.lowerBound + $0.lowerBound)
                    })
            }
        }
    }
}

extension PieceParser {
    /// The parts of a point's feature, as slices of its text.
    public struct PointParts {
        /// A number or a string.
        public let identifier: UnsafeRawBufferPointer
        /// An array of two or three numbers.
        public let coordinates: UnsafeRawBufferPointer
        /// An object.
        public let properties: UnsafeRawBufferPointer
        /// The numbers of `coordinates`.
        public let longitude: Double
        public let latitude: Double

        public init(
            identifier: UnsafeRawBufferPointer, coordinates: UnsafeRawBufferPointer,
            properties: UnsafeRawBufferPointer, longitude: Double, latitude: Double
        ) {
            (self.identifier, self.coordinates, self.properties) = (identifier, coordinates, properties)
            (self.longitude, self.latitude) = (longitude, latitude)
        }
    }

    /// Appends the feature of a text. Faults count as in any imported text.
    ///
    /// - Parameters:
    ///   - text: one GeoJSON feature.
    ///   - parts: the text's parts, if the caller has composed it from them and knows it to be valid; nil to parse it.
    public func append(_ text: UnsafeRawBufferPointer, parts: PointParts?) {
        guard let parts, rules.promoteId == nil, !result.keepsRanges else {
            if (try? parser.parse(single: text, at: 0, into: result)) == nil {
                result.addFault(.badJSON, identifier: nil, range: 0..<text.count)
            }
            return
        }
        if let fault = rules.fault(longitude: parts.longitude, latitude: parts.latitude) {
            let identifier = parts.identifier.count > 80 ? nil : String(decoding: parts.identifier, as: UTF8.self)
            return result.addFault(fault, identifier: identifier, range: 0..<text.count)
        }
        let blob = result.blob
        blob.append(length: parts.identifier.count)
        blob.append(length: parts.coordinates.count)
        blob.append(length: 0)
        blob.append(parts.identifier)
        blob.append(parts.coordinates)
        blob.append(parts.properties)
        // JSON's "-0" would be read as 0.
        result.endRow(longitude: parts.longitude + 0, latitude: parts.latitude + 0)
        result.seen += 1
    }

    /// Removes the features, but keeps the memory.
    public func removeAll() { result.removeAll() }
}
