// SPDX-License-Identifier: MIT
import Clustering
import SystemSupport

/// The rows that features have in an image: along the curve of its index, so that a view reads neighbours from few pages. Their
/// numbers in the input are kept beside.
enum CurveOrder {
    /// Writes which row each point and each feature of the input has. What exists already is not made again.
    static func write(_ index: ClusterIndex, _ files: BuildFiles, memory: Int) throws(BuildError) {
        if FileIO.exists(files.inputRows) { return }
        var pairs = Pairs(files.rows, memory: memory)
        try index.forEachPointAlongCurve { (point) throws(BuildError) in
            try pairs.append(key: point.rawValue, value: UInt32(truncatingIfNeeded: pairs.count))
        }
        try pairs.write()
        let (inputs, rows) = (try ValueReader<UInt32>(files.inputs), try ValueReader<UInt32>(files.rows))
        pairs = Pairs(files.inputRows, memory: memory)
        while let input = try inputs.read(), let row = try rows.read() { try pairs.append(key: input, value: row) }
        try pairs.write()
    }

    /// Lets rows be in the order of the input instead, and writes the points by row.
    static func keepInput(_ files: BuildFiles, memory: Int) throws(BuildError) {
        if FileIO.exists(files.points) { return }
        let rows = try ValueWriter<UInt32>(files.rows)
        let inputs = try ValueReader<UInt32>(files.inputs)
        var pairs = Pairs(files.points, memory: memory)
        while let input = try inputs.read() {
            try pairs.append(key: input, value: UInt32(truncatingIfNeeded: rows.count))
            try rows.append(input)
        }
        try rows.finish()
        try pairs.write()
    }

    /// Writes the values of pairs in the order of their keys.
    private struct Pairs {
        private let path: String
        private var sort: ExternalSort<UInt64>

        init(_ path: String, memory: Int) {
            self.path = path
            sort = ExternalSort(at: path, memory: memory / 2)
        }

        var count: Int { sort.count }

        mutating func append(key: UInt32, value: UInt32) throws(BuildError) {
            try sort.append(UInt64(key) << 32 | UInt64(value))
        }

        mutating func write() throws(BuildError) {
            let values = try ValueWriter<UInt32>(path)
            try sort.finish { (pair) throws(BuildError) in try values.append(UInt32(truncatingIfNeeded: pair)) }
            try values.finish()
        }
    }
}
