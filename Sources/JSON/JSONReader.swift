// SPDX-License-Identifier: MIT
import CSimdjson

/// Reads JSON texts (RFC 8259) into trees. If a text is large or read often, a `JSONParser`'s tape is
/// cheaper.
public enum JSONReader {
    /// The maximum nesting of arrays and objects in the protocol.
    public static let maximumDepth = 64

    /// Parses a whole text; of members with equal keys the last counts.
    public static func parse(
        _ text: UnsafeRawBufferPointer, maximumDepth: Int = maximumDepth
    ) throws(JSONError) -> JSONValue {
        let parser = JSONParser()
        return try parser.parse(text, maximumDepth).root.value
    }

    public static func parse(
        _ text: [UInt8], maximumDepth: Int = maximumDepth
    ) throws(JSONError) -> JSONValue {
        var result: Result<JSONValue, JSONError> = .success(.null)
        text.withUnsafeBytes { bytes in
            do throws(JSONError) {
                result = .success(try parse(bytes, maximumDepth: maximumDepth))
            } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }

    public static func parse(
        _ text: String, maximumDepth: Int = maximumDepth
    ) throws(JSONError) -> JSONValue {
        try parse(Array(text.utf8), maximumDepth: maximumDepth)
    }
}

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
