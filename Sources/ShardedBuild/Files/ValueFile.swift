// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// A file of values of one type, one after another, in the machine's byte order, packed in blocks (`PackedBlock`). It has its
/// name once it is complete.
///
/// After the blocks come 32 bytes: a magic number, the number of values, the number of bytes before, and their checksum.
enum ValueFile {
    static let magic: UInt64 = 0x3270_6574_7364_6c63
    static let tailSize = 32

    /// Whether there is a complete file.
    static func exists(_ path: String) -> Bool { FileIO.exists(path) }

    static func directory(of path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return parts.isEmpty ? "." : parts.joined(separator: "/")
    }
}

/// Writes a file of values. Not safe for concurrent use.
final class ValueWriter<Value: BitwiseCopyable> {
    let path: String
    private let file: FileDescriptor
    private let values: UnsafeMutableBufferPointer<Value>
    private let block = PackedBlock(stride: MemoryLayout<Value>.stride)
    private let packed: UnsafeMutableRawBufferPointer
    /// The number of values that are not packed yet, and of bytes that are packed but not written.
    private var (pending, filled) = (0, 0)
    private var written = 0
    private var sum = StreamChecksum()
    /// The number of values.
    private(set) var count = 0

    private let temporary: String
    private var isFinished = false

    /// - Parameter bufferBytes: how much is written at once.
    init(_ path: String, bufferBytes: Int = 1 << 18) throws(BuildError) {
        self.path = path
        temporary = Attempt.path(of: path)
        file = try onDisk(try FileIO.create(temporary))
        let stride = MemoryLayout<Value>.stride
        values = .allocate(capacity: PackedBlock.capacity(stride: stride))
        packed = .allocate(byteCount: bufferBytes + PackedBlock.mostPacked(stride: stride), alignment: 16)
    }

    deinit {
        values.deallocate()
        packed.deallocate()
        block.deallocate()
        if !isFinished { FileIO.remove(temporary) }
    }

    @inline(__always) func append(_ value: Value) throws(BuildError) {
        values[pending] = value
        pending += 1
        count += 1
        if pending == values.count { try pack() }
    }

    func append(contentsOf more: UnsafeBufferPointer<Value>) throws(BuildError) {
        var done = 0
        while done < more.count {
            let size = min(more.count - done, values.count - pending)
            let target = UnsafeMutableBufferPointer(rebasing: values[pending..<pending + size])
            _ = target.update(fromContentsOf: more[done..<done + size])
            (pending, count, done) = (pending + size, count + size, done + size)
            if pending == values.count { try pack() }
        }
    }

    private func pack() throws(BuildError) {
        guard pending > 0, let base = packed.baseAddress else { return }
        let bytes = UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: values[..<pending]))
        filled += block.pack(bytes, into: base + filled)
        pending = 0
        if packed.count - filled < PackedBlock.mostPacked(stride: MemoryLayout<Value>.stride) { try flush() }
    }

    private func flush() throws(BuildError) {
        let bytes = UnsafeRawBufferPointer(rebasing: packed[..<filled])
        sum.add(bytes)
        try onDisk(try FileIO.write(bytes, to: file, at: written, path: temporary))
        written += filled
        filled = 0
    }

    /// Writes the rest and gives the file its name.
    ///
    /// - Parameter isTemporary: whether only this process reads the file, so that it need not be on the disk.
    func finish(isTemporary: Bool = false) throws(BuildError) {
        try pack()
        try flush()
        let tail = [ValueFile.magic, UInt64(count), UInt64(written), sum.value].flatMap { word in
            withUnsafeBytes(of: word) { Array($0) }
        }
        try onDisk(try FileIO.write(tail, to: file, at: written, path: temporary))
        if !isTemporary { try onDisk(try FileIO.sync(file, path: temporary)) }
        try onDisk(try FileIO.rename(temporary, to: path))
        isFinished = true
    }
}

/// A checksum of bytes that come in pieces: FNV-1a of their words, which depends on where pieces begin only in that each
/// but the last is a multiple of 8 bytes long.
struct StreamChecksum {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        let whole = bytes.count & ~7
        for offset in stride(from: 0, to: whole, by: 8) {
            step(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        for offset in whole..<bytes.count { step(UInt64(bytes[offset])) }
    }

    private mutating func step(_ word: UInt64) {
        value = (value ^ word) &* 0x0000_0100_0000_01b3
        value ^= value >> 29
    }
}

/// Reads a file of values from its start to its end, and compares the checksum at the end.
final class ValueReader<Value: BitwiseCopyable> {
    private let path: String
    private let file: FileDescriptor
    private let values: UnsafeMutableBufferPointer<Value>
    private let block = PackedBlock(stride: MemoryLayout<Value>.stride)
    private let packed: UnsafeMutableRawBufferPointer
    private var (next, filled) = (0, 0)
    /// The packed bytes that are in memory, and where in the file the ones after them are.
    private var (first, last, offset) = (0, 0, 0)
    private let end: Int
    private let expected: UInt64
    private var sum = StreamChecksum()
    private var unread: Int
    /// The number of values in the file.
    let count: Int

    /// - Parameter bufferBytes: how much is read at once.
    init(_ path: String, bufferBytes: Int = 1 << 18) throws(BuildError) {
        self.path = path
        file = try onDisk(try FileIO.open(path, O_RDONLY))
        let size = file.size
        let tail = try onDisk(
            try FileIO.read(ValueFile.tailSize, from: file, at: max(0, size - ValueFile.tailSize), path: path))
        let words = tail.withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
        let stride = MemoryLayout<Value>.stride
        guard words.count == 4, words[0] == ValueFile.magic, words[2] == UInt64(size - ValueFile.tailSize),
            let count = Int(exactly: words[1]), count <= size * PackedBlock.capacity(stride: stride)
        else { throw BuildError("\(path) is cut short or damaged; build again without --resume") }
        (end, expected) = (size - ValueFile.tailSize, words[3])
        (self.count, unread) = (count, count)
        values = .allocate(capacity: PackedBlock.capacity(stride: stride))
        // Eight bytes beyond a block may be read.
        packed = .allocate(byteCount: bufferBytes + PackedBlock.mostPacked(stride: stride) + 8, alignment: 16)
    }

    deinit {
        values.deallocate()
        packed.deallocate()
        block.deallocate()
    }

    /// The next value; nil at the end.
    @inline(__always) func read() throws(BuildError) -> Value? {
        if next == filled, try !fill() { return nil }
        defer { next += 1 }
        return values[next]
    }

    /// Lends the next values; false at the end.
    func readPiece(_ body: (UnsafeBufferPointer<Value>) throws(BuildError) -> Void) throws(BuildError) -> Bool {
        if next == filled, try !fill() { return false }
        try body(UnsafeBufferPointer(rebasing: values[next..<filled]))
        next = filled
        return true
    }

    /// Unpacks the next block; false at the end.
    private func fill() throws(BuildError) -> Bool {
        guard unread > 0 else {
            guard first == last, offset == end, sum.value == expected else { throw damage() }
            return false
        }
        let size = try nextBlock()
        let bytes = UnsafeRawBufferPointer(rebasing: packed[first..<first + size + 8])
        guard let base = values.baseAddress, let count = block.unpack(bytes, into: base), count > 0, count <= unread
        else { throw damage() }
        first += size
        unread -= count
        (next, filled) = (0, count)
        return true
    }

    /// The size of the next block, which is in memory afterwards.
    private func nextBlock() throws(BuildError) -> Int {
        func known() -> Int? { PackedBlock.size(of: UnsafeRawBufferPointer(rebasing: packed[first..<last])) }
        if let size = known(), size <= last - first { return size }
        let kept = last - first
        if let base = packed.baseAddress { base.copyMemory(from: base + first, byteCount: kept) }
        // Checksums are of multiples of 8 bytes.
        let size = min((packed.count - 8 - kept) & ~7, end - offset)
        let target = UnsafeMutableRawBufferPointer(rebasing: packed[kept..<kept + size])
        try onDisk(try FileIO.read(offset..<offset + size, of: file, into: target, path: path))
        sum.add(UnsafeRawBufferPointer(target))
        offset += size
        (first, last) = (0, kept + size)
        guard let size = known(), size <= last else { throw damage() }
        return size
    }

    private func damage() -> BuildError {
        BuildError("\(path) is damaged: its checksum differs; build again without --resume")
    }
}

/// Writes a file only if there is something to write.
struct OptionalWriter<Value: BitwiseCopyable> {
    private let path: String
    private var writer: ValueWriter<Value>?

    init(_ path: String) { self.path = path }

    mutating func append(_ value: Value) throws(BuildError) {
        if writer == nil { writer = try ValueWriter(path) }
        try writer?.append(value)
    }

    func finish() throws(BuildError) { try writer?.finish() }
}

/// The values of a complete file as an array, which lies in an unnamed file: pages take no memory of the process's own.
///
/// Invariant: `values` is memory that exists until `deinit` and that nobody writes.
final class MappedValues<Value: BitwiseCopyable>: @unchecked Sendable {
    let values: UnsafeBufferPointer<Value>
    private let memory: UnsafeMutableRawPointer
    private let blocks: FileBlocks

    /// - Complexity: O(the file's values).
    init(_ path: String) throws(BuildError) {
        let reader = try ValueReader<Value>(path, bufferBytes: 1 << 20)
        blocks = FileBlocks(directory: ValueFile.directory(of: path))
        memory = try onDisk(try blocks.allocate(throwing: max(1, reader.count * MemoryLayout<Value>.stride)))
        let array = UnsafeMutableBufferPointer(
            start: memory.bindMemory(to: Value.self, capacity: reader.count), count: reader.count)
        values = UnsafeBufferPointer(array)
        var filled = 0
        while try reader.readPiece({ (piece) throws(BuildError) in
            _ = array[filled...].update(fromContentsOf: piece)
            filled += piece.count
        }) {}
    }

    deinit { blocks.deallocate(memory) }
}
