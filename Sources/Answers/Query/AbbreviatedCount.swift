// SPDX-License-Identifier: MIT
import JSON
import Sources

/// A count as supercluster shortens it: itself below 1000, then `"1k"`, `"1.2k"`, `"12k"`.
enum AbbreviatedCount {
    /// Writes the count as a JSON number or string.
    static func write(_ count: Int, into output: inout ByteWriter) {
        guard count >= 1000 else { return output.append(integer: Int64(count)) }
        output.append("\"")
        if count >= 10_000 {
            output.append(integer: Int64(count / 1000 + (count % 1000 >= 500 ? 1 : 0)))
        } else {
            let tenths = (count + 50) / 100
            output.append(integer: Int64(tenths / 10))
            if tenths % 10 != 0 {
                output.append(".")
                output.append(integer: Int64(tenths % 10))
            }
        }
        output.append("k\"")
    }
}
