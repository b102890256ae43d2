// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import ImageStore
import SourceEngine

/// Finds the numbers of the features that an image's clusters grew from, so that a daemon reads clusters' ids beside each
/// other instead of looking features up all over the file.
///
/// Features are read in the order of their rows, and all else is sorted.
struct ClusterCodes {
    let view: View
    let store: FeatureStore
    let codes: FeatureCodes
    /// The upper halves of hashes that several features share, sorted.
    let repeated: UnsafeBufferPointer<UInt32>
    /// The upper halves above the features' numbers in the input, each sorted.
    let entries: [UnsafeBufferPointer<UInt64>]
    let files: BuildFiles
    /// In bytes.
    let memory: Int

    private struct Coded: BitwiseCopyable, Sendable {
        var code: UInt64
        var ordinal: UInt32
    }

    /// With more features that share a number, what tells them apart would take too much memory.
    private static let mostAlike = 1 << 18

    /// - Returns: the numbers by cluster; nil if too many features have the same: they are looked up then.
    func make() throws(BuildError) -> SectionValues<UInt64>? {
        guard let alike = try alike() else { return nil }
        var coded = ExternalSort<Coded>(at: "\(files.directory)/codes", memory: memory / 8) {
            $0.ordinal < $1.ordinal
        }
        var origins = try rowsOfOrigins()
        try origins.finish { (pair) throws(BuildError) in
            let row = Int(pair >> 32)
            var code = FeatureCodes.hash(of: row, in: store) >> (64 - FeatureCodes.bits)
            if alike.contains(code) { code = codes.code(of: row, in: store) }
            try coded.append(Coded(code: code, ordinal: UInt32(truncatingIfNeeded: pair)))
        }
        let writer = try ValueWriter<UInt64>(files.clusterCodes)
        try coded.finish { (coded) throws(BuildError) in try writer.append(coded.code) }
        try writer.finish()
        let made = try MappedValues<UInt64>(files.clusterCodes)
        return SectionValues(made.values, owner: made)
    }

    /// The rows of the features that clusters grew from, above the clusters' ordinals.
    private func rowsOfOrigins() throws(BuildError) -> ExternalSort<UInt64> {
        var points = ExternalSort<UInt64>(at: "\(files.directory)/origins", memory: memory / 8)
        for ordinal in 0..<view.index.clusterCount {
            let cluster = ClusterOrdinal(rawValue: UInt32(truncatingIfNeeded: ordinal))
            try points.append(UInt64(view.index.origin(of: .cluster(cluster)).rawValue) << 32 | UInt64(ordinal))
        }
        var rows = ExternalSort<UInt64>(at: "\(files.directory)/origin-rows", memory: memory / 8)
        try points.finish { (pair) throws(BuildError) in
            let point = PointIndex(rawValue: UInt32(truncatingIfNeeded: pair >> 32))
            try rows.append(UInt64(view.feature(of: point)) << 32 | pair & 0xffff_ffff)
        }
        return rows
    }

    /// The numbers that several features share until their ranks tell them apart; nil if there are too many.
    private func alike() throws(BuildError) -> Set<UInt64>? {
        // Rows of features whose hashes have the same upper half.
        var rows = ExternalSort<UInt64>(at: "\(files.directory)/alike-rows", memory: memory / 8)
        for entries in entries {
            var next = 0
            for entry in entries {
                let prefix = UInt32(truncatingIfNeeded: entry >> 32)
                while next < repeated.count, repeated[next] < prefix { next += 1 }
                guard next < repeated.count else { break }
                if repeated[next] == prefix { try rows.append(UInt64(store.row(ofInput: Int(entry & 0xffff_ffff)))) }
            }
        }
        var found = ExternalSort<UInt64>(at: "\(files.directory)/alike", memory: memory / 8)
        try rows.finish { (row) throws(BuildError) in
            try found.append(FeatureCodes.hash(of: Int(row), in: store) >> (64 - FeatureCodes.bits))
        }
        var alike: Set<UInt64> = []
        var (last, count): (UInt64?, Int) = (nil, 0)
        try found.finish { (code) throws(BuildError) in
            if code == last {
                count += 1
                if count <= Self.mostAlike { alike.insert(code) }
            }
            last = code
        }
        return count > Self.mostAlike ? nil : alike
    }
}
