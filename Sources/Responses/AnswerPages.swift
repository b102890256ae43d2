// SPDX-License-Identifier: MIT
import JSON
import SourceEngine
import SystemSupport

/// An answer that is written page by page, so that one of any length takes the memory of a page. Used by one thread at a
/// time.
public protocol AnswerPages {
    /// Whether only the end is left to write.
    var isAtEnd: Bool { get }
    /// Writes the next page. Reads data, which may block: only for threads of the pool.
    mutating func writePage(into bytes: inout ByteWriter, _ cancellation: Cancellation) throws(SourceError)
    /// Writes what follows the last page.
    func writeEnd(into bytes: inout ByteWriter)
}
