// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SystemSupport

/// One aggregated property's value for each cluster.
package enum AggregateColumn: Sendable {
    /// Numbers; not a number stands for null.
    case numbers([Double])
    /// 0 false, 1 true, 2 null.
    case flags([UInt8])
    case values([JSONValue])
    /// Sums of numbers and how many there were: their mean.
    case means(sums: [Double], counts: [UInt32])
    case counts([UInt32])
    case labels(LabelAggregate)
    case quantiles(QuantileAggregate)

    package func write(_ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter) {
        let place = Int(cluster.rawValue)
        switch self {
        case .numbers(let numbers): bytes.append(number: numbers[place])
        case .flags(let flags):
            switch flags[place] {
            case 0: bytes.append("false")
            case 1: bytes.append("true")
            default: bytes.append("null")
            }
        case .values(let values): bytes.append(values[place])
        case .means(let sums, let counts): bytes.append(number: sums[place] / Double(counts[place]))
        case .counts(let counts): bytes.append(integer: counts[place])
        case .labels(let labels): labels.write(cluster, of: index, into: &bytes)
        case .quantiles(let quantiles): quantiles.write(cluster, of: index, into: &bytes)
        }
    }

    /// How far past the column's end a cluster is; nil where the column has it, or has no end.
    package func placeBeyond(_ cluster: ClusterOrdinal) -> UInt32? {
        let count: Int
        switch self {
        case .numbers(let numbers): count = numbers.count
        case .flags(let flags): count = flags.count
        case .values(let values): count = values.count
        case .means(let sums, _): count = sums.count
        case .counts(let counts): count = counts.count
        case .labels, .quantiles: return nil
        }
        return Int(cluster.rawValue) < count ? nil : cluster.rawValue - UInt32(truncatingIfNeeded: count)
    }

    package var memoryBytes: Int {
        switch self {
        case .numbers(let numbers): numbers.count * MemoryLayout<Double>.stride
        case .flags(let flags): flags.count
        case .values(let values): values.count * MemoryLayout<JSONValue>.stride
        case .means(let sums, let counts):
            sums.count * MemoryLayout<Double>.stride + counts.count * MemoryLayout<UInt32>.stride
        case .counts(let counts): counts.count * MemoryLayout<UInt32>.stride
        case .labels(let labels): labels.memoryBytes
        case .quantiles(let quantiles): quantiles.memoryBytes
        }
    }
}
