// SPDX-License-Identifier: MIT
import JSON

/// Features read from one text: records in a blob, and what was wrong with the others. Made by one thread,
/// taken over by another.
final class ParsedFeatures {
    /// An invalid feature of the text.
    struct Fault {
        /// Its index among the text's features.
        let place: Int
        let fault: FeatureFault
        let identifier: String?
        /// Where it is in the text.
        let range: Range<Int>
    }

    /// More bytes of records than this are not made of one text: a MultiPoint repeats its properties.
    static let largestBlob = 64 << 20

    let blob = FeatureBlob(capacity: 1 << 16)
    /// Where each row's record ends: a valid feature is one row, or one for each position of a MultiPoint.
    var ends: [Int] = []
    var longitudes: [Double] = []
    var latitudes: [Double] = []
    /// Features of several rows: their first row, ascending, and how many follow it.
    var groups: [(row: Int, following: Int)] = []
    /// Invalid features, in the text's order.
    var faults: [Fault] = []
    /// Valid and invalid features together.
    var seen = 0
    var advice = ImportAdvice()
    /// Whether the text is an array without a comma between two of its values: then nothing was read.
    var lacksComma = false
    /// Where the valid features of a JSON text are in it, if that is kept, instead of their records.
    var ranges: [Range<Int>] = []
    let keepsRanges: Bool
    /// Gets the valid features' properties.
    let piece: (any PropertyPiece)?

    init(piece: (any PropertyPiece)? = nil, keepsRanges: Bool = false) {
        (self.piece, self.keepsRanges) = (piece, keepsRanges)
    }

    /// How many features are valid.
    var accepted: Int { seen - faults.count }

    func removeAll() {
        piece?.removeAll()
        blob.removeAll()
        ends.removeAll(keepingCapacity: true)
        longitudes.removeAll(keepingCapacity: true)
        latitudes.removeAll(keepingCapacity: true)
        groups.removeAll(keepingCapacity: true)
        faults.removeAll(keepingCapacity: true)
        ranges.removeAll(keepingCapacity: true)
        seen = 0
        lacksComma = false
        advice = ImportAdvice()
    }

    /// Throws if the text was no list of values.
    func checkCommas() throws(GeoJSONError) {
        guard lacksComma else { return }
        throw .malformed(message: "One comma between each two features was expected.", offset: nil)
    }

    func addFault(_ fault: FeatureFault, identifier: String?, range: Range<Int>) {
        advice.note(fault)
        faults.append(Fault(place: seen, fault: fault, identifier: identifier, range: range))
        seen += 1
    }

    /// Notes the row whose record is at the blob's end.
    @inline(__always) func endRow(longitude: Double, latitude: Double) {
        ends.append(blob.count)
        noteRow(longitude: longitude, latitude: latitude)
    }

    @inline(__always) func noteRow(longitude: Double, latitude: Double) {
        longitudes.append(longitude)
        latitudes.append(latitude)
    }
}
