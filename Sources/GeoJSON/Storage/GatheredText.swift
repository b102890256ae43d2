// SPDX-License-Identifier: MIT

/// The text of a store while it is made: in memory, or in a file once it is long.
struct GatheredText: Sendable {
    /// The size in bytes.
    private(set) var count = 0
    /// Text that is not in the file yet, or all of it if there is no file.
    private let blob = GrowingColumn<UInt8>()
    private var sink: (any TextSink)?
    /// Decides when the file is made; nil for never, and once it has been. Must be set before the first byte.
    var spill: TextSpill?

    /// The number of bytes to write to the file at once.
    private static let partSize = 1 << 20

    init() {}

    /// - Parameter size: that of the text to come.
    init(size: Int, spill: TextSpill?) {
        self.spill = spill
        if let spill, size >= spill.bytes { openFile() }
        if sink == nil { blob.reserve(size) }
    }

    /// Reserves memory for about as much text.
    func expect(bytes: Int) { blob.reserve(max(0, min(bytes, spill?.bytes ?? bytes))) }

    /// The bytes in memory: all of them if there is no file.
    var bytes: UnsafeRawBufferPointer { blob.bytes }
    var memoryBytes: Int { blob.count }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if let spill, count + bytes.count >= spill.bytes { openFile() }
        if let sink, bytes.count >= Self.partSize {
            writeOut()
            sink.write(bytes, at: count)
        } else {
            blob.append(bytes)
        }
        count += bytes.count
        if blob.count >= Self.partSize { writeOut() }
    }

    /// If the file cannot be made, the text stays in memory.
    private mutating func openFile() {
        sink = spill?.make()
        spill = nil
        writeOut()
        if sink != nil { blob.shrink() }
    }

    private func writeOut() {
        guard let sink, blob.count > 0 else { return }
        sink.write(blob.bytes, at: count - blob.count)
        blob.removeAll()
    }

    /// The text, in memory or in a file.
    func finish() -> (GrowingColumn<UInt8>, (any FeatureText)?) {
        guard let sink else {
            blob.shrink()
            return (blob, nil)
        }
        writeOut()
        return (GrowingColumn(), sink.finish(count: count))
    }
}
