// SPDX-License-Identifier: MIT

/// Owns a text and its values, for use beyond the scope of a tape.
public final class JSONDocument {
    private let text: [UInt8]
    private let parser = JSONParser()

    public init(_ text: [UInt8]) throws(JSONError) {
        self.text = text
        var failure: JSONError?
        text.withUnsafeBytes { bytes in
            do throws(JSONError) { _ = try parser.parse(bytes, JSONReader.maximumDepth) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Passes the root value to `body`; it is valid during the call.
    public func withRoot<Result>(_ body: (JSONElement) throws -> Result) rethrows -> Result {
        try text.withUnsafeBytes { bytes in
            try body(JSONTape(text: bytes, entries: parser.lastEntries, hasLoneSurrogates: false).root)
        }
    }
}
