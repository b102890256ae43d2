// SPDX-License-Identifier: MIT
import GeoJSON
import SystemSupport

/// Joins files that are in the order of the rows, or of hashes. What exists already is not joined again.
enum IntakeJoining {
    /// The sorted hashes of ids and of texts, and which of them are repeated.
    static func joinCodes(_ parts: [Intake.Part], _ files: BuildFiles, memory: Int) throws(BuildError) {
        if FileIO.exists(files.repeated) { return }
        let identified = try ValueWriter<UInt64>(files.identified)
        let anonymous = try ValueWriter<UInt64>(files.anonymous)
        let repeated = try ValueWriter<UInt32>(files.repeated)
        func merge(_ paths: [String]) throws(BuildError) -> SortedMerge<UInt64> {
            // Equal hashes are in the order of the rows, in each file and among all.
            try SortedMerge(paths, memory: memory / 2, adjust: { $0 += UInt64(parts[$1].firstRow) }, by: <)
        }
        var known = try merge(parts.map(\.files.identified))
        var unknown = try merge(parts.map(\.files.anonymous))
        var (last, noted): (UInt64?, UInt64?) = (nil, nil)
        while true {
            let isKnown = (known.head ?? .max) < (unknown.head ?? .max)
            guard let entry = isKnown ? try known.next() : try unknown.next() else { break }
            if isKnown { try identified.append(entry) } else { try anonymous.append(entry) }
            let prefix = entry >> 32
            if prefix == last, prefix != noted {
                try repeated.append(UInt32(truncatingIfNeeded: prefix))
                noted = prefix
            }
            last = prefix
        }
        try identified.finish()
        try anonymous.finish()
        try repeated.finish()
        for part in parts {
            FileIO.remove(part.files.identified)
            FileIO.remove(part.files.anonymous)
        }
    }

    /// The features' text, in the image to be, and where each begins. Each step's text is removed when it is written to the
    /// disk, so that there are not two copies of all.
    static func joinTexts(_ parts: [Intake.Part], _ files: BuildFiles, bytes: Int) throws(BuildError) {
        if !FileIO.exists(files.blockStarts) { try joinLengths(parts, files) }
        if FileIO.exists(files.text) { return }
        let target = try JoinedText(files.image, bytes: bytes)
        for part in parts where FileIO.exists(part.files.text) {
            let reader = try ValueReader<UInt8>(part.files.text, bufferBytes: 1 << 20)
            guard reader.count == part.summary.textBytes else {
                throw BuildError("\(part.files.text) is of another build; build again without --resume")
            }
            var offset = part.firstText
            while try reader.readPiece({ (piece) throws(BuildError) in
                try target.write(UnsafeRawBufferPointer(piece), at: offset)
                offset += piece.count
            }) {}
            try target.sync()
            FileIO.remove(part.files.text)
        }
        try ImageFile.Text(bytes: bytes, checksum: try target.finish()).write(to: files.text)
    }

    private static func joinLengths(_ parts: [Intake.Part], _ files: BuildFiles) throws(BuildError) {
        let blockStarts = try ValueWriter<Int>(files.blockStarts)
        let offsets = try ValueWriter<UInt32>(files.offsets)
        var (start, blockStart) = (0, 0)
        for part in parts {
            let lengths = try ValueReader<UInt32>(part.files.lengths)
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
        for part in parts { FileIO.remove(part.files.lengths) }
    }
}
