// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SystemSupport

/// Sorts the features by their keys: the points' nodes in order, and which number each has in the input.
enum Ordering {
    /// What exists already is not made again, and the parts' records are removed before all is made.
    ///
    /// - Parameters:
    ///   - parts: what was read, each with its records sorted.
    ///   - partitions: the values of `partitionBy`, in the order in which they were read.
    /// - Returns: these values in the order of the points, as a build of all at once finds them.
    static func run(
        _ files: BuildFiles, _ parts: [Intake.Part], memory: Int, deepest: Int, partitions: [JSONValue]
    ) throws(BuildError) -> [JSONValue] {
        let found = try order(files, parts, memory: memory, deepest: deepest, partitions: partitions)
        for part in parts {
            FileIO.remove(part.files.records)
            FileIO.remove(part.files.strings)
        }
        return found
    }

    /// Writes the nodes and their numbers in order.
    private static func order(
        _ files: BuildFiles, _ parts: [Intake.Part], memory: Int, deepest: Int, partitions: [JSONValue]
    ) throws(BuildError) -> [JSONValue] {
        if case .array(let known)? = try BuildFiles.value(files.order) { return known }
        let strings = try joinedStrings(parts, files)
        let texts = strings.values
        var merge = try SortedMerge<SortRecord>(
            parts.map(\.files.records), memory: memory / 2,
            adjust: { record, number in
                let part = parts[number]
                record.row += UInt32(truncatingIfNeeded: part.firstRow)
                record.text += UInt64(part.firstString)
                if !part.partitions.isEmpty { record.partition = part.partitions[Int(record.partition)] }
            },
            by: { SortRecord.isBefore($0, $1, texts) })
        let nodes = try ValueWriter<LevelNode>(files.nodes)
        let inputs = try ValueWriter<UInt32>(files.inputs)
        var numbers = [UInt32?](repeating: nil, count: partitions.count)
        var found: [JSONValue] = []
        while let record = try merge.next() {
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
            try inputs.append(record.row)
        }
        withExtendedLifetime(strings) {}
        try nodes.finish()
        try inputs.finish()
        try BuildFiles.write(.array(found), to: files.order)
        FileIO.remove(files.strings)
        return found
    }

    /// The keys that are longer than a record has room for.
    private static func joinedStrings(
        _ parts: [Intake.Part], _ files: BuildFiles
    ) throws(BuildError) -> MappedValues<UInt8> {
        let writer = try ValueWriter<UInt8>(files.strings)
        for part in parts {
            let reader = try ValueReader<UInt8>(part.files.strings)
            while try reader.readPiece({ (piece) throws(BuildError) in try writer.append(contentsOf: piece) }) {}
        }
        try writer.finish(isTemporary: true)
        return try MappedValues(files.strings)
    }
}
