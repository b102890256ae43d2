// SPDX-License-Identifier: MIT
import JSON

/// The features parsed from one text: the records of valid ones, and the faults of the others. Made by one
/// thread, then passed to another.
final class ParsedFeatures {
    /// An invalid feature of the text.
    struct Fault {
        /// Its index among the text's features.
        let index: Int
        let fault: FeatureFault
        let identifier: String?
        /// Its range in the text.
        let range: Range<Int>
        /// The word for a number that keeps it from being JSON.
        let foreignNumber: (word: String, offset: Int)?

        /// - Parameter line: the line of an offset in the text.
        func foreignNumber(line: (Int) -> Int?) -> ForeignNumber? {
            foreignNumber.map { ForeignNumber(word: $0.word, line: line($0.offset)) }
        }
    }

    /// The most bytes of records from one text, since each point of a MultiPoint repeats its properties.
    static let largestBlob = 64 << 20

    let blob = GrowingColumn<UInt8>(capacity: 1 << 16)
    /// The end of each row's record. A valid feature has one row, or one for each position of a MultiPoint.
    var ends: [Int] = []
    var longitudes: [Double] = []
    var latitudes: [Double] = []
    /// Features of several rows: their first row, ascending, and the number of rows after it.
    var groups: [(row: Int, following: Int)] = []
    /// Invalid features, in the text's order.
    var faults: [Fault] = []
    /// Valid and invalid features together.
    var seen = 0
    var advice = ImportAdvice()
    /// Whether the text is an array that lacks a comma between two values. Nothing is read then.
    var lacksComma = false
    /// The ranges of valid features in a JSON text, recorded instead of their records if requested.
    var ranges: [Range<Int>] = []
    let keepsRanges: Bool

    init(keepsRanges: Bool = false) { self.keepsRanges = keepsRanges }

    /// The number of valid features.
    var accepted: Int { seen - faults.count }

    func removeAll() {
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

    /// Throws if the text was not a list of values.
    func checkCommas() throws(GeoJSONError) {
        if lacksComma { throw .commaExpected }
    }

    func addFault(
        _ fault: FeatureFault, identifier: String?, range: Range<Int>,
        foreignNumber: (word: String, offset: Int)? = nil
    ) {
        advice.note(fault)
        if foreignNumber != nil { advice.noteForeignNumber() }
        faults.append(
            Fault(index: seen, fault: fault, identifier: identifier, range: range, foreignNumber: foreignNumber))
        seen += 1
    }

    /// Ends the row whose record is at the blob's end.
    @inline(__always) func endRow(longitude: Double, latitude: Double) {
        ends.append(blob.count)
        noteRow(longitude: longitude, latitude: latitude)
    }

    @inline(__always) func noteRow(longitude: Double, latitude: Double) {
        longitudes.append(longitude)
        latitudes.append(latitude)
    }
}
