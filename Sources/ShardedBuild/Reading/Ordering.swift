// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SystemSupport

/// Sorts the features by their keys: the points' nodes in order, and which row each has.
enum Ordering {
    /// - Parameter partitions: the values of `partitionBy`, in the order in which they were read.
    /// - Returns: these values in the order of the points, as a build of all at once finds them.
    static func run(
        _ files: BuildFiles, memory: Int, deepest: Int, partitions: [JSONValue]
    ) throws(BuildError) -> [JSONValue] {
        let strings = try MappedValues<UInt8>(files.strings)
        let texts = strings.values
        var sort = ExternalSort<SortRecord>(in: files.directory, name: "order", memory: memory / 4) {
            SortRecord.isBefore($0, $1, texts)
        }
        let records = try ValueReader<SortRecord>(files.records)
        while let record = try records.read() { try sort.append(record) }
        let nodes = try ValueWriter<LevelNode>(files.nodes)
        let rows = try ValueWriter<UInt32>(files.rows)
        // The row above the order.
        var pairs = ExternalSort<UInt64>(in: files.directory, name: "rows", memory: memory / 4, by: <)
        var numbers = [UInt32?](repeating: nil, count: partitions.count)
        var found: [JSONValue] = []
        try sort.finish { (record) throws(BuildError) in
            let order = UInt32(truncatingIfNeeded: nodes.count)
            var partition = record.partition
            if !partitions.isEmpty {
                let known = Int(record.partition)
                partition = numbers[known] ?? UInt32(truncatingIfNeeded: found.count)
                if numbers[known] == nil {
                    numbers[known] = partition
                    found.append(partitions[known])
                }
            }
            try nodes.append(
                LevelNode(
                    x: record.x, y: record.y, weight: record.weight, order: order, count: 1, partition: partition,
                    zoom: UInt32(truncatingIfNeeded: deepest + 1)))
            try rows.append(record.row)
            try pairs.append(UInt64(record.row) << 32 | UInt64(order))
        }
        withExtendedLifetime(strings) {}
        let points = try ValueWriter<UInt32>(files.points)
        try pairs.finish { (pair) throws(BuildError) in try points.append(UInt32(truncatingIfNeeded: pair)) }
        try nodes.finish()
        try rows.finish()
        try points.finish()
        return found
    }
}
