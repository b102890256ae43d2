// SPDX-License-Identifier: MIT
import CSimdjson

/// Reads the validated text of a single value.
public enum JSONText {
    /// Whether bytes are UTF-8. O(bytes), at a few gigabytes per second.
    public static func isUTF8(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let start = text.baseAddress else { return true }
        return csj_is_utf8(start.assumingMemoryBound(to: CChar.self), text.count) != 0
    }

    /// A number's value; nil if the text is not a number.
    public static func number(_ text: UnsafeRawBufferPointer) -> Double? {
        if let short = ShortDecimal.value(of: text) { return short }
        guard let start = text.baseAddress else { return nil }
        var value = 0.0
        let good = csj_read_number(start.assumingMemoryBound(to: CChar.self), text.count, &value)
        return good != 0 ? value : nil
    }

    /// Decodes a string from the text between its quotation marks.
    public static func string(inside text: UnsafeRawBufferPointer) -> String {
        guard let start = text.baseAddress, text.contains(UInt8(ascii: "\\")) else {
            return String(decoding: text, as: UTF8.self)
        }
        return String(unsafeUninitializedCapacity: text.count) { target in
            target.withMemoryRebound(to: CChar.self) { target in
                guard let out = target.baseAddress else { return 0 }
                return csj_unescape(start.assumingMemoryBound(to: CChar.self), text.count, out)
            }
        }
    }
}
