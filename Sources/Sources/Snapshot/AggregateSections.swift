// SPDX-License-Identifier: MIT
import Aggregates
import JSON
import SourceStorage
import SystemSupport

/// Aggregated properties as sections: each column's arrays as they are in memory.
package enum AggregateSections {
    /// - Returns: the kind by which `read` knows the column.
    package static func write(
        _ column: AggregateColumn, _ place: Int, to writer: SectionFileWriter
    ) throws(FileError) -> String {
        func name(_ part: UInt32) -> UInt32 { SnapshotSection.aggregate(place, part) }
        switch column {
        case .numbers(let numbers):
            try writer.add(name(0), numbers)
            return "numbers"
        case .flags(let flags):
            try writer.add(name(0), flags)
            return "flags"
        case .values(let values):
            try ValueSections.write(values, to: writer, name)
            return "values"
        case .means(let sums, let counts):
            try writer.add(name(0), sums)
            try writer.add(name(1), counts)
            return "means"
        case .counts(let counts):
            try writer.add(name(0), counts)
            return "counts"
        case .labels(let labels):
            try ValueSections.write(labels.labels, to: writer, name)
            try writer.add(name(3), labels.codes)
            return labels.isHistogram ? "histogram" : "distinct"
        case .quantiles(let aggregate):
            try writer.add(name(0), aggregate.numbers)
            try writer.add(name(1), aggregate.quantiles)
            return aggregate.isMedian ? "median" : "quantiles"
        }
    }

    package static func read(
        kind: String, _ place: Int, clusters: Int, points: Int, from reader: SectionFileReader
    ) throws(StateFault) -> AggregateColumn {
        func name(_ part: UInt32) -> UInt32 { SnapshotSection.aggregate(place, part) }
        switch kind {
        case "numbers": return .numbers(try reader.values(name(0), count: clusters))
        case "flags": return .flags(try reader.values(name(0), count: clusters))
        case "values": return .values(try ValueSections.read(reader, count: clusters, name))
        case "means":
            return .means(
                sums: try reader.values(name(0), count: clusters),
                counts: try reader.values(name(1), count: clusters))
        case "counts": return .counts(try reader.values(name(0), count: clusters))
        case "histogram", "distinct":
            let labels = try ValueSections.read(reader, count: nil, name)
            let codes: [UInt32] = try reader.values(name(3), count: points)
            guard (codes.max() ?? 0) <= labels.count else {
                throw StateFault("\(reader.path) lacks a label of section \(name(3))")
            }
            return .labels(LabelAggregate(labels: labels, codes: codes, isHistogram: kind == "histogram"))
        case "median", "quantiles":
            let quantiles: [Double] = try reader.values(name(1))
            return .quantiles(
                QuantileAggregate(
                    numbers: try reader.values(name(0), count: points),
                    quantiles: kind == "median" ? nil : quantiles))
        default: throw StateFault("\(reader.path) has an aggregated property of unknown kind '\(kind)'")
        }
    }
}
