// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import SystemSupport

/// Writes the features' text, which the steps have left in the order of the input, to where it lies in the image: in the order of
/// the rows.
///
/// Records are first spread over buckets of rows next to each other, and then each bucket is put in order. A part's text is
/// removed once it is in the buckets, and a bucket once it is in the image, so that little is on the disk twice. A build that
/// was ended goes on with what is left.
struct PlacedText {
    let parts: [Intake.Part]
    let files: BuildFiles
    let features: Int
    /// The size of all text.
    let bytes: Int
    /// The rows in the order of the input; nil if they are in that order.
    let inputRows: MappedValues<UInt32>?
    /// In bytes.
    let memory: Int
    let threads: Int

    /// How much is spread before parts are removed.
    private static let bytesOfRound = 1 << 30

    /// What exists already is not made again.
    func write() throws(BuildError) {
        if FileIO.exists(files.text) { return }
        let buckets = try spread()
        let target = try JoinedText(files.image, bytes: bytes)
        try place(buckets, in: target)
        try joinLengths(buckets.buckets.count)
        try ImageFile.Text(bytes: bytes, checksum: try target.checksum()).write(to: files.text)
        for number in buckets.buckets.indices { FileIO.remove(files.lengths(number)) }
    }

    // MARK: Into buckets

    private func spread() throws(BuildError) -> TextBuckets {
        let buckets = BucketWriter(
            try TextBuckets(files, features: features, bytes: bytes, memory: memory), memory: memory)
        var taken = 0
        for number in parts.indices.dropFirst(buckets.state.parts) {
            try spread(parts[number], into: buckets)
            taken += parts[number].summary.textBytes
            guard taken >= Self.bytesOfRound || number == parts.count - 1 else { continue }
            let first = buckets.state.parts
            try buckets.save(parts: number + 1)
            for part in parts[first...number] {
                FileIO.remove(part.files.text)
                FileIO.remove(part.files.lengths)
            }
            taken = 0
        }
        return buckets.state
    }

    private func spread(_ part: Intake.Part, into buckets: BucketWriter) throws(BuildError) {
        let lengths = try MappedValues<UInt32>(part.files.lengths)
        let text = try ValueReader<UInt8>(part.files.text, bufferBytes: 1 << 20)
        guard lengths.values.count == part.summary.points, text.count == part.summary.textBytes,
            lengths.values.reduce(0, { $0 + Int($1) }) == text.count
        else { throw BuildError("\(part.files.text) is of another build; build again without --resume") }
        // The record that is being read, and how much of it is not.
        var (number, left) = (-1, 0)
        while try text.readPiece({ (piece) throws(BuildError) in
            var rest = UnsafeRawBufferPointer(piece)
            while !rest.isEmpty {
                if left == 0 {
                    number += 1
                    left = Int(lengths.values[number])
                    let input = part.firstRow + number
                    try buckets.begin(row: inputRows.map { Int($0.values[input]) } ?? input, bytes: left)
                }
                let some = min(left, rest.count)
                buckets.append(UnsafeRawBufferPointer(rebasing: rest[..<some]))
                left -= some
                rest = UnsafeRawBufferPointer(rebasing: rest[some...])
            }
        }) {}
    }

    // MARK: Into the image

    private func place(_ buckets: TextBuckets, in target: JoinedText) throws(BuildError) {
        let starts = buckets.textStarts
        let failures = Parallel(.own, threads: buckets.threads(threads, memory: memory)).map(below: starts.count) {
            number -> BuildError? in
            // What is complete is in the image.
            if FileIO.exists(files.lengths(number)) { return nil }
            do throws(BuildError) { try place(buckets, number, at: starts[number], in: target) } catch { return error }
            FileIO.remove(files.bucket(number))
            return nil
        }
        for case let failure? in failures { throw failure }
    }

    private func place(
        _ buckets: TextBuckets, _ number: Int, at start: Int, in target: JoinedText
    ) throws(BuildError) {
        let lengths = try ValueWriter<UInt32>(files.lengths(number))
        var text = ByteWriter(capacity: Self.bytesOfPiece + 1024)
        var offset = start
        func flush() throws(BuildError) {
            try text.withUnsafeBytes { (bytes) throws(BuildError) in try target.write(bytes, at: offset) }
            offset += text.count
            text.truncate(to: 0)
        }
        try buckets.forEachRecord(of: number) { (record) throws(BuildError) in
            try lengths.append(UInt32(truncatingIfNeeded: record.count))
            text.append(contentsOf: record)
            if text.count >= Self.bytesOfPiece { try flush() }
        }
        try flush()
        try target.sync()
        try lengths.finish()
    }

    private static let bytesOfPiece = 1 << 20

    /// Where each record begins.
    private func joinLengths(_ buckets: Int) throws(BuildError) {
        let blockStarts = try ValueWriter<Int>(files.blockStarts)
        let offsets = try ValueWriter<UInt32>(files.offsets)
        var (start, blockStart) = (0, 0)
        for bucket in 0..<buckets {
            let lengths = try ValueReader<UInt32>(files.lengths(bucket))
            while let length = try lengths.read() {
                if offsets.count % FeatureStore.rowsOfBlock == 0 {
                    try blockStarts.append(start)
                    blockStart = start
                }
                try offsets.append(UInt32(truncatingIfNeeded: start - blockStart))
                start += Int(length)
            }
        }
        try offsets.finish()
        try blockStarts.finish()
    }
}
