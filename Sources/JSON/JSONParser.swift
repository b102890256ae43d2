// SPDX-License-Identifier: MIT
import CSimdjson
import Glibc

/// A reusable parser. simdjson finds the structure of a text, which is stored as a flat tape of all values,
/// each with its range in the text. Memory is reused from text to text, so a small text costs no allocation.
///
/// Invariant: `handle` is a parser that only this object uses, and only one thread at a time uses the object.
public final class JSONParser {
    private let handle: OpaquePointer?
    /// The entries of the last text parsed.
    private(set) var lastEntries = UnsafeBufferPointer<csj_entry>(start: nil, count: 0)
    /// The offset, in the last text parsed, of the first string with a lone surrogate.
    private var loneSurrogate: Int?

    public init() { handle = csj_create() }

    deinit { if let handle { csj_destroy(handle) } }

    /// Parses a whole text and passes its tape to `body`.
    ///
    /// - Parameters:
    ///   - text: UTF-8, less than 4 GiB.
    ///   - maximumDepth: the maximum nesting of arrays and objects; a scalar has depth 0.
    ///   - allowsLoneSurrogates: whether `\ud800` without its other half is accepted; it decodes to U+FFFD.
    ///     RFC 8259 allows it, but it is not Unicode text.
    ///   - body: receives the tape; the tape and its text are valid only during the call.
    /// - Complexity: O(length), several hundred MB/s.
    @inlinable public func withTape<Result, Failure: Error>(
        of text: UnsafeRawBufferPointer, maximumDepth: Int = JSONReader.maximumDepth,
        allowsLoneSurrogates: Bool = false, _ body: (JSONTape) throws(Failure) -> Result
    ) throws(JSONTapeError<Failure>) -> Result {
        let tape: JSONTape
        do { tape = try parse(text, maximumDepth, allowsLoneSurrogates) } catch {
            throw .json(error)
        }
        do { return try body(tape) } catch { throw .body(error) }
    }

    /// Parses like `withTape` but without a scope: the tape is valid until the parser is next used or
    /// released, and while the text is valid.
    @usableFromInline func parse(
        _ text: UnsafeRawBufferPointer, _ maximumDepth: Int, _ allowsLoneSurrogates: Bool = false
    ) throws(JSONError) -> JSONTape {
        guard let handle, let start = text.baseAddress, !text.isEmpty else {
            throw JSONError(kind: .empty, offset: 0, message: "The text is empty; a JSON value was expected.")
        }
        var entries: UnsafePointer<csj_entry>?
        var count = 0
        var offset = 0
        var lone = 0
        let characters = start.assumingMemoryBound(to: CChar.self)
        let status = csj_parse(
            handle, characters, text.count, UInt32(clamping: maximumDepth), &entries, &count, &offset, &lone)
        guard status == CSJ_OK.rawValue, let entries else {
            throw Self.error(UInt32(bitPattern: status), offset: offset, maximumDepth: maximumDepth)
        }
        // SIZE_MAX arrives as -1.
        loneSurrogate = lone >= 0 ? lone : nil
        if let loneSurrogate, !allowsLoneSurrogates {
            throw Self.error(CSJ_STRING_ERROR.rawValue, offset: loneSurrogate, maximumDepth: maximumDepth)
        }
        lastEntries = UnsafeBufferPointer(start: entries, count: count)
        return JSONTape(text: text, entries: lastEntries, hasLoneSurrogates: loneSurrogate != nil)
    }

    private static func error(_ status: UInt32, offset: Int, maximumDepth: Int) -> JSONError {
        switch status {
        case CSJ_DEPTH.rawValue:
            JSONError(
                kind: .depth, offset: offset,
                message: "JSON is nested more than \(maximumDepth) levels deep at byte \(offset).")
        case CSJ_NOT_FINITE.rawValue:
            JSONError(
                kind: .number, offset: offset,
                message: "The number at byte \(offset) is too large: numbers must be finite.")
        case CSJ_UTF8.rawValue:
            JSONError(kind: .encoding, offset: offset, message: "The text is not UTF-8.")
        case CSJ_STRING_ERROR.rawValue:
            JSONError(
                kind: .string, offset: offset,
                message:
                    "The string at byte \(offset) does not end, or has a control character or an escape that JSON does not have."
            )
        case CSJ_EMPTY.rawValue:
            JSONError(kind: .empty, offset: offset, message: "The text is empty; a JSON value was expected.")
        case CSJ_MEMORY.rawValue, CSJ_TOO_LARGE.rawValue:
            JSONError(kind: .size, offset: offset, message: "The text is too large.")
        default: JSONError(kind: .syntax, offset: offset, message: "The text is not JSON at byte \(offset).")
        }
    }
}

extension JSONParser {
    /// The same for bytes that a span lends.
    @inlinable public func withTape<Result, Failure: Error>(
        of text: Span<UInt8>, maximumDepth: Int = JSONReader.maximumDepth, allowsLoneSurrogates: Bool = false,
        _ body: (JSONTape) throws(Failure) -> Result
    ) throws(JSONTapeError<Failure>) -> Result {
        try text.withUnsafeBytes { (text) throws(JSONTapeError<Failure>) in
            try withTape(of: text, maximumDepth: maximumDepth, allowsLoneSurrogates: allowsLoneSurrogates, body)
        }
    }
}
