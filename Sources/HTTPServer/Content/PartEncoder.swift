// SPDX-License-Identifier: MIT
import ClusterProtocol
import Compression
import JSON
import RPC

/// Leaves the parts of an answer as the call made them, or compresses them as one gzip stream.
struct PartEncoder: AnswerEncoder {
    var wireProtocol: WireProtocol { .http }
    let form: AnswerForm
    private let compressor: PartCompressor?

    /// - Parameter compresses: whether the client accepts gzip.
    init(form: AnswerForm, compresses: Bool) {
        self.form = form
        compressor = compresses ? PartCompressor() : nil
    }

    var compresses: Bool { compressor != nil }

    func begin(_ part: AnswerPart, into bytes: inout ByteWriter) {}

    func end(_ part: AnswerPart, from start: Int, in bytes: inout ByteWriter) {
        compressor?.compress(&bytes, from: start, isLast: part != .item)
    }
}

/// Compresses the parts of one answer. They are compressed one after another, each on the thread that has made it, and the
/// hand-overs between threads order them. So it may be shared.
private final class PartCompressor: @unchecked Sendable {
    private var stream: DeflateStream?
    private var hasFailed = false

    /// Replaces the bytes from an offset on by their compressed form.
    ///
    /// Without memory nothing more is written: the end of the gzip stream is then missing, which its reader reports.
    func compress(_ bytes: inout ByteWriter, from start: Int, isLast: Bool) {
        var compressed: [UInt8] = []
        do throws(CompressionError) {
            if hasFailed { throw .outOfMemory }
            if stream == nil { stream = try DeflateStream(format: .gzip, level: 1) }
            try bytes.withBytes { (all) throws(CompressionError) in
                try stream?.compress(part: all.extracting(start...), isLast: isLast, appendingTo: &compressed)
            }
        } catch {
            hasFailed = true
            compressed = []
        }
        bytes.truncate(to: start)
        bytes.append(contentsOf: compressed)
    }
}
