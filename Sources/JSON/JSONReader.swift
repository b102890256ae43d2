// SPDX-License-Identifier: MIT

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
