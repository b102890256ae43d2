// SPDX-License-Identifier: MIT
import Glibc
import JSON
import SystemSupport

/// Features' records in files, each with those of rows next to each other, in any order.
///
/// A file has blocks of 8 bytes with the size of what follows, 8 bytes with its checksum, and records: a row and a size of 32 bits
/// each, and the text. What is beyond `Bucket.bytes` was written by a build that was ended.
struct TextBuckets: Sendable {
    struct Bucket: Sendable {
        /// The size of the file, and of the records' text in it.
        var bytes = 0
        var text = 0
    }

    fileprivate let files: BuildFiles
    private let features: Int
    /// A bucket has 2^shift rows.
    fileprivate let shift: Int
    /// How many of the steps' texts are in the buckets.
    fileprivate(set) var parts = 0
    fileprivate(set) var buckets: [Bucket]

    /// What an earlier build has filled, or empty buckets.
    ///
    /// - Parameters:
    ///   - bytes: the size of all text.
    ///   - memory: of which a bucket takes about a quarter.
    init(_ files: BuildFiles, features: Int, bytes: Int, memory: Int) throws(BuildError) {
        (self.files, self.features) = (files, features)
        let last = max(0, features - 1)
        if let value = try BuildFiles.value(files.buckets) {
            guard let known = Self.known(value), known.buckets.count == last >> known.shift + 1 else {
                throw BuildError("\(files.buckets) is of another build; build again without --resume")
            }
            (shift, parts, buckets) = known
            return
        }
        let most = max(16, memory / Self.leastBuffers)
        let count = max(1, min(most, (bytes + Self.bytesOfHead * features) / max(1, memory / 4)))
        shift = (0..<32).first { last >> $0 < count } ?? 32
        buckets = Array(repeating: Bucket(), count: last >> shift + 1)
    }

    /// The memory that a bucket has at least to gather records in, in bytes.
    private static let leastBuffers = 1 << 18
    fileprivate static let bytesOfHead = 8

    private static func known(_ value: JSONValue) -> (shift: Int, parts: Int, buckets: [Bucket])? {
        guard case .object(let object) = value, let shift = integer(object["shift"]), (0...32).contains(shift),
            let parts = integer(object["parts"]), case .array(let sizes)? = object["buckets"]
        else { return nil }
        var buckets: [Bucket] = []
        for size in sizes {
            guard case .array(let pair) = size, pair.count == 2, let bytes = integer(pair[0]),
                let text = integer(pair[1])
            else { return nil }
            buckets.append(Bucket(bytes: bytes, text: text))
        }
        return (shift, parts, buckets)
    }

    private static func integer(_ value: JSONValue?) -> Int? {
        guard case .number(let number)? = value, number >= 0 else { return nil }
        return Int(exactly: number)
    }

    fileprivate var json: JSONValue {
        .object([
            "shift": .number(Double(shift)), "parts": .number(Double(parts)),
            "buckets": .array(buckets.map { .array([.number(Double($0.bytes)), .number(Double($0.text))]) }),
        ])
    }

    /// Where the text of each bucket begins among all.
    var textStarts: [Int] {
        var start = 0
        return buckets.map { bucket in
            defer { start += bucket.text }
            return start
        }
    }

    /// How many buckets can be put in order at the same time.
    func threads(_ threads: Int, memory: Int) -> Int {
        max(1, min(threads, memory / 4 / (MemoryLayout<Int>.stride << shift)))
    }

    /// Calls `body` with the text of each record of a bucket, in the order of the rows.
    ///
    /// - Complexity: O(the bucket's bytes); memory of 8 bytes for each row, since the file is mapped.
    func forEachRecord(
        of bucket: Int, _ body: (UnsafeRawBufferPointer) throws(BuildError) -> Void
    ) throws(BuildError) {
        let rows = bucket << shift..<min(features, (bucket + 1) << shift)
        guard !rows.isEmpty else { return }
        let path = files.bucket(bucket)
        let file = try MappedFile(path, bytes: buckets[bucket].bytes)
        defer { withExtendedLifetime(file) {} }
        var starts = [Int](repeating: -1, count: rows.count)
        var text = 0
        let known = try forEachBlock(file.bytes, path) { (block) throws(BuildError) in
            var (offset, known) = (block.lowerBound, 0)
            while offset < block.upperBound {
                guard block.upperBound - offset >= Self.bytesOfHead, case let head = Self.head(file.bytes, offset),
                    rows.contains(head.row), starts[head.row - rows.lowerBound] < 0,
                    head.bytes <= block.upperBound - offset - Self.bytesOfHead
                else { throw damage(path) }
                starts[head.row - rows.lowerBound] = offset
                offset += Self.bytesOfHead + head.bytes
                text += head.bytes
                known += 1
            }
            return known
        }
        // Where the next bucket's text begins depends on it.
        guard known == rows.count, text == buckets[bucket].text else { throw damage(path) }
        for start in starts {
            let first = start + Self.bytesOfHead
            try body(UnsafeRawBufferPointer(rebasing: file.bytes[first..<first + Self.head(file.bytes, start).bytes]))
        }
    }

    /// Compares the blocks with their checksums.
    ///
    /// - Returns: the sum of what `body` returns.
    private func forEachBlock(
        _ bytes: UnsafeRawBufferPointer, _ path: String, _ body: (Range<Int>) throws(BuildError) -> Int
    ) throws(BuildError) -> Int {
        var (offset, sum) = (0, 0)
        while offset < bytes.count {
            guard bytes.count - offset > BucketWriter.bytesOfHead else { throw damage(path) }
            let size = Int(clamping: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let expected = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
            offset += BucketWriter.bytesOfHead
            guard size <= bytes.count - offset else { throw damage(path) }
            var checksum = StreamChecksum()
            checksum.add(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + size]))
            guard checksum.value == expected else { throw damage(path) }
            sum += try body(offset..<offset + size)
            offset += size
        }
        return sum
    }

    @inline(__always) private static func head(
        _ bytes: UnsafeRawBufferPointer, _ offset: Int
    ) -> (row: Int, bytes: Int) {
        let head = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        return (Int(head & 0xffff_ffff), Int(head >> 32))
    }

    private func damage(_ path: String) -> BuildError {
        BuildError("\(path) is damaged; build again without --resume")
    }
}

/// Spreads records over buckets. Not safe for concurrent use.
final class BucketWriter {
    private(set) var state: TextBuckets
    private let pending: [Pending]
    /// That of the record that is being written.
    private var current: Pending
    private let bytesOfBlock: Int
    /// Of a block.
    fileprivate static let bytesOfHead = 16

    /// A block that is not in the file yet, after room for its head.
    private final class Pending {
        var block = ByteWriter(capacity: 1024)
        var text = 0

        init() { clear() }

        func clear() {
            block.truncate(to: 0)
            for _ in 0..<BucketWriter.bytesOfHead { block.append(0) }
            text = 0
        }
    }

    init(_ state: TextBuckets, memory: Int) {
        self.state = state
        pending = state.buckets.map { _ in Pending() }
        current = pending.first ?? Pending()
        bytesOfBlock = max(1 << 12, min(1 << 20, memory / 4 / max(1, pending.count)))
    }

    /// Begins a record, whose text is appended then.
    func begin(row: Int, bytes: Int) throws(BuildError) {
        let bucket = row >> state.shift
        current = pending[bucket]
        if current.block.count >= bytesOfBlock { try flush(bucket) }
        current.text += bytes
        let head = UInt64(row) | UInt64(bytes) << 32
        withUnsafeBytes(of: head) { current.block.append(contentsOf: $0) }
    }

    func append(_ text: UnsafeRawBufferPointer) { current.block.append(contentsOf: text) }

    private func flush(_ bucket: Int) throws(BuildError) {
        let pending = pending[bucket]
        let size = pending.block.count - Self.bytesOfHead
        guard size > 0 else { return }
        var checksum = StreamChecksum()
        pending.block.withUnsafeBytes { checksum.add(UnsafeRawBufferPointer(rebasing: $0[Self.bytesOfHead...])) }
        pending.block.overwrite(at: 0, with: UInt64(size))
        pending.block.overwrite(at: 8, with: checksum.value)
        let path = state.files.bucket(bucket)
        let file = try onDisk(try FileIO.open(path, O_RDWR | O_CREAT))
        let offset = state.buckets[bucket].bytes
        try pending.block.withUnsafeBytes { (bytes) throws(BuildError) in
            try onDisk(try FileIO.write(bytes, to: file, at: offset, path: path))
        }
        state.buckets[bucket].bytes += pending.block.count
        state.buckets[bucket].text += pending.text
        pending.clear()
    }

    /// Notes that the texts of so many steps are in the buckets, once they are on the disk.
    func save(parts: Int) throws(BuildError) {
        for bucket in pending.indices {
            try flush(bucket)
            let path = state.files.bucket(bucket)
            guard FileIO.exists(path) else { continue }
            try onDisk(try FileIO.sync(try FileIO.open(path, O_RDWR), path: path))
        }
        state.parts = parts
        try BuildFiles.write(state.json, to: state.files.buckets)
    }
}
