// SPDX-License-Identifier: MIT
import JSON

/// Outgoing bytes that the system may still be reading.
///
/// One thread fills the writer and another reads it after a hand-over through the loop's queue, which
/// orders the two. So it may be sent.
package final class OutgoingBytes: @unchecked Sendable {
    package var writer: ByteWriter

    package init(_ writer: consuming ByteWriter) { self.writer = writer }
}
