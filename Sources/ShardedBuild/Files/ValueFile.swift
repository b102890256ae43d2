// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// A file of values of one type, one after another, in the machine's byte order. It has its name once it is complete.
///
/// After the values come 24 bytes: a magic number, the number of bytes before, and their checksum.
enum ValueFile {
    static let magic: UInt64 = 0x3170_6574_7364_6c63
    static let tailSize = 24

    /// How many values a buffer has room for: pieces of a multiple of 8 bytes.
    static func capacity(_ bytes: Int, _ stride: Int) -> Int { max(8, bytes / stride & ~7) }

    static func writeTail(
        to file: FileDescriptor, bytes: Int, checksum: UInt64, path: String
    ) throws(BuildError) {
        let tail = [magic, UInt64(bytes), checksum].flatMap { word in withUnsafeBytes(of: word) { Array($0) } }
        try onDisk(try FileIO.write(tail, to: file, at: bytes, path: path))
    }

    /// Whether there is a complete file.
    static func exists(_ path: String) -> Bool { FileIO.exists(path) }
}

/// Writes a file of values. Not safe for concurrent use.
final class ValueWriter<Value: BitwiseCopyable> {
    let path: String
    private let file: FileDescriptor
    private let buffer: UnsafeMutableBufferPointer<Value>
    private var pending = 0
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
        buffer = .allocate(capacity: ValueFile.capacity(bufferBytes, MemoryLayout<Value>.stride))
    }

    deinit {
        buffer.deallocate()
        if !isFinished { FileIO.remove(temporary) }
    }

    @inline(__always) func append(_ value: Value) throws(BuildError) {
        buffer[pending] = value
        pending += 1
        count += 1
        if pending == buffer.count { try flush() }
    }

    func append(contentsOf values: UnsafeBufferPointer<Value>) throws(BuildError) {
        var done = 0
        while done < values.count {
            let size = min(values.count - done, buffer.count - pending)
            let target = UnsafeMutableBufferPointer(rebasing: buffer[pending..<pending + size])
            _ = target.update(fromContentsOf: values[done..<done + size])
            (pending, count, done) = (pending + size, count + size, done + size)
            if pending == buffer.count { try flush() }
        }
    }

    private func flush() throws(BuildError) {
        let bytes = UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[..<pending]))
        sum.add(bytes)
        try onDisk(try FileIO.write(bytes, to: file, at: written, path: temporary))
        written += bytes.count
        pending = 0
    }

    /// Writes the rest and gives the file its name.
    ///
    /// - Parameter isTemporary: whether only this process reads the file, so that it need not be on the disk.
    func finish(isTemporary: Bool = false) throws(BuildError) {
        try flush()
        try ValueFile.writeTail(to: file, bytes: written, checksum: sum.value, path: temporary)
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
    private let buffer: UnsafeMutableBufferPointer<Value>
    private var (next, filled) = (0, 0)
    private var offset = 0
    private let end: Int
    private let expected: UInt64
    private var sum = StreamChecksum()
    /// The number of values in the file.
    let count: Int

    init(_ path: String, bufferBytes: Int = 1 << 18) throws(BuildError) {
        self.path = path
        file = try onDisk(try FileIO.open(path, O_RDONLY))
        let size = file.size
        let tail = try onDisk(
            try FileIO.read(ValueFile.tailSize, from: file, at: max(0, size - ValueFile.tailSize), path: path))
        let words = tail.withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
        let stride = MemoryLayout<Value>.stride
        guard words.count == 3, words[0] == ValueFile.magic, words[1] == UInt64(size - ValueFile.tailSize),
            (size - ValueFile.tailSize) % stride == 0
        else { throw BuildError("\(path) is cut short or damaged; build again without --resume") }
        (end, expected) = (size - ValueFile.tailSize, words[2])
        count = end / stride
        buffer = .allocate(capacity: ValueFile.capacity(bufferBytes, stride))
    }

    deinit { buffer.deallocate() }

    /// The next value; nil at the end.
    @inline(__always) func read() throws(BuildError) -> Value? {
        if next == filled, try !fill() { return nil }
        defer { next += 1 }
        return buffer[next]
    }

    /// Reads the rest, and compares the checksum.
    func verify() throws(BuildError) {
        while try fill() {}
        next = filled
    }

    /// Lends the next values; false at the end.
    func readPiece(_ body: (UnsafeBufferPointer<Value>) throws(BuildError) -> Void) throws(BuildError) -> Bool {
        if next == filled, try !fill() { return false }
        try body(UnsafeBufferPointer(rebasing: buffer[next..<filled]))
        next = filled
        return true
    }

    private func fill() throws(BuildError) -> Bool {
        guard offset < end else {
            guard sum.value == expected else {
                throw BuildError("\(path) is damaged: its checksum differs; build again without --resume")
            }
            return false
        }
        let size = min(buffer.count * MemoryLayout<Value>.stride, end - offset)
        let target = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<size])
        try onDisk(try FileIO.read(offset..<offset + size, of: file, into: target, path: path))
        sum.add(UnsafeRawBufferPointer(target))
        offset += size
        (next, filled) = (0, size / MemoryLayout<Value>.stride)
        return true
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

/// The values of a complete file, mapped: pages are read when they are touched, and take no memory of the process's own.
/// The checksum is compared before, in one pass through the file.
///
/// Invariant: `values` is a mapping that exists until `deinit` and that nobody writes. The files are those of the build,
/// which nobody shortens.
final class MappedValues<Value: BitwiseCopyable>: @unchecked Sendable {
    let values: UnsafeBufferPointer<Value>
    private let mapping: UnsafeRawBufferPointer

    init(_ path: String) throws(BuildError) {
        let reader = try ValueReader<Value>(path, bufferBytes: 1 << 20)
        try reader.verify()
        let count = reader.count
        let file = try onDisk(try FileIO.open(path, O_RDONLY))
        let size = max(1, file.size)
        let memory = mmap(nil, size, PROT_READ, MAP_SHARED, file.number, 0)
        guard let memory, memory != MAP_FAILED else { throw BuildError(FileIO.failure(errno, "map", path)) }
        mapping = UnsafeRawBufferPointer(start: memory, count: size)
        values = UnsafeBufferPointer(start: memory.bindMemory(to: Value.self, capacity: count), count: count)
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: mapping.baseAddress), mapping.count) }
}
