// SPDX-License-Identifier: MIT
@testable import HTTPServer

/// What a reader makes of a text.
enum RequestScript {
    static func events(_ text: String, pieces size: Int, limits: RequestLimits = RequestLimits()) -> [String] {
        Transcript.requests(
            Array(text.utf8), pieces: size, headBytes: limits.headBytes, targetBytes: limits.targetBytes)
    }

    /// The head that a text is.
    static func head(_ text: String) -> RequestHead? {
        var reader = RequestReader(limits: RequestLimits())
        reader.append(Array(text.utf8).span.bytes)
        guard case .head(let head) = reader.next() else { return nil }
        return head
    }
}
