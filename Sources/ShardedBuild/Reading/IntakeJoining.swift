// SPDX-License-Identifier: MIT
import SystemSupport

/// Joins files that are in the order of hashes. What exists already is not joined again.
enum IntakeJoining {
    /// The sorted hashes of ids and of texts, and which of them are repeated.
    static func joinCodes(_ parts: [Intake.Part], _ files: BuildFiles, memory: Int) throws(BuildError) {
        if FileIO.exists(files.repeated) { return }
        let identified = try ValueWriter<UInt64>(files.identified)
        let anonymous = try ValueWriter<UInt64>(files.anonymous)
        let repeated = try ValueWriter<UInt32>(files.repeated)
        func merge(_ paths: [String]) throws(BuildError) -> SortedMerge<UInt64> {
            // Equal hashes are in the order of the input, in each file and among all.
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
}
