// SPDX-License-Identifier: MIT

/// A block of values as `ValueFile` stores them: of each 32-bit word of a value only the bytes that differ within the block.
///
/// Numbers that ascend, counts and weights that are all 1, and coordinates that were rounded take few of their bytes so, and
/// packing costs less than writing what it saves.
///
/// A block begins with its size in bytes and its number of values, 32 bits each. Then each word of a value has 8 bytes: the
/// base, how many bytes each value's word takes, whether it is the difference from the value before, and by how many bits it
/// is shifted. The words follow, word by word; zeros fill the block up to a multiple of 8 bytes. Values that are no
/// multiple of 32 bits long are stored as they are.
struct PackedBlock {
    /// At most so many bytes of values are in a block, as they are in memory.
    static let mostBytes = 1 << 15
    private static let headSize = 8
    private static let wordHeadSize = 8
    /// The most bytes that a block takes. Three are written and read beyond the last word.
    static func mostPacked(stride: Int) -> Int { headSize + wordHeadSize * stride / 4 + mostBytes + 16 }

    private let stride: Int
    private var words: Int { stride % 4 == 0 ? stride / 4 : 0 }
    /// A word of each value.
    private let column: UnsafeMutableBufferPointer<UInt32>

    /// How many values a block has at most.
    static func capacity(stride: Int) -> Int { max(1, mostBytes / stride) }

    /// - Parameter stride: the size of a value, in bytes.
    init(stride: Int) {
        self.stride = stride
        column = .allocate(capacity: Self.capacity(stride: stride))
    }

    func deallocate() { column.deallocate() }

    /// Packs values.
    ///
    /// - Parameters:
    ///   - values: at most `capacity`.
    ///   - target: room for `mostPacked` bytes.
    /// - Returns: the block's size.
    func pack(_ values: UnsafeRawBufferPointer, into target: UnsafeMutableRawPointer) -> Int {
        let count = values.count / stride
        var size = Self.headSize
        if words == 0 {
            if let base = values.baseAddress { (target + size).copyMemory(from: base, byteCount: values.count) }
            size += values.count
        } else {
            var offset = size + words * Self.wordHeadSize
            for word in 0..<words {
                for index in 0..<count {
                    column[index] = values.loadUnaligned(fromByteOffset: index * stride + 4 * word, as: UInt32.self)
                }
                let form = WordForm(of: UnsafeBufferPointer(rebasing: column[..<count]))
                form.store(at: target + size)
                size += Self.wordHeadSize
                offset = form.pack(column, count, target, at: offset)
            }
            size = offset
        }
        while size % 8 != 0 {
            target.storeBytes(of: 0, toByteOffset: size, as: UInt8.self)
            size += 1
        }
        target.storeBytes(of: UInt32(size), as: UInt32.self)
        target.storeBytes(of: UInt32(count), toByteOffset: 4, as: UInt32.self)
        return size
    }

    /// The size of the block that begins at some bytes; nil if there is none.
    static func size(of bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= headSize else { return nil }
        let size = Int(bytes.loadUnaligned(as: UInt32.self))
        return size >= headSize && size % 8 == 0 ? size : nil
    }

    /// Unpacks a block.
    ///
    /// - Parameters:
    ///   - block: a block, and 8 more bytes that may be read.
    ///   - target: room for `capacity` values.
    /// - Returns: the number of values; nil if it is not a block of such values.
    func unpack(_ block: UnsafeRawBufferPointer, into target: UnsafeMutableRawPointer) -> Int? {
        let end = block.count - 8
        let count = Int(block.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        guard count <= column.count else { return nil }
        if words == 0 {
            guard Self.headSize + count * stride <= end, let base = block.baseAddress else { return nil }
            target.copyMemory(from: base + Self.headSize, byteCount: count * stride)
            return count
        }
        var offset = Self.headSize + words * Self.wordHeadSize
        guard offset <= end else { return nil }
        for word in 0..<words {
            let form = WordForm(at: block, Self.headSize + word * Self.wordHeadSize)
            guard form.width <= 4, form.shift < 32, offset + form.width * count <= end else { return nil }
            form.unpack(block, at: offset, column, count)
            offset += form.width * count
            for index in 0..<count {
                target.storeBytes(of: column[index], toByteOffset: index * stride + 4 * word, as: UInt32.self)
            }
        }
        return count
    }
}

/// How one word of a block's values is stored.
private struct WordForm {
    var base: UInt32 = 0
    /// In bytes.
    var width = 0
    var isDifference = false
    var shift = 0

    /// The form that takes the fewest bytes.
    init(of column: UnsafeBufferPointer<UInt32>) {
        guard let first = column.first else { return }
        var (least, most, differing) = (first, first, UInt32(0))
        for value in column {
            least = min(least, value)
            most = max(most, value)
            differing |= value ^ first
        }
        // All differences are multiples of it.
        shift = differing == 0 ? 0 : differing.trailingZeroBitCount
        base = least
        width = Self.bytes((most - least) >> UInt32(shift))
        guard width > 1 else { return }
        var (longest, last) = (UInt32(0), first)
        for value in column {
            longest = max(longest, value &- last)
            last = value
        }
        let step = Self.bytes(longest >> UInt32(shift))
        if step < width { (base, width, isDifference) = (first, step, true) }
    }

    private static func bytes(_ value: UInt32) -> Int { (39 - value.leadingZeroBitCount) / 8 }

    init(at block: UnsafeRawBufferPointer, _ offset: Int) {
        base = block.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        width = Int(block[offset + 4])
        isDifference = block[offset + 5] != 0
        shift = Int(block[offset + 6])
    }

    func store(at target: UnsafeMutableRawPointer) {
        target.storeBytes(of: base, as: UInt32.self)
        target.storeBytes(of: UInt8(width), toByteOffset: 4, as: UInt8.self)
        target.storeBytes(of: isDifference ? 1 : 0, toByteOffset: 5, as: UInt8.self)
        target.storeBytes(of: UInt8(shift), toByteOffset: 6, as: UInt8.self)
        target.storeBytes(of: 0, toByteOffset: 7, as: UInt8.self)
    }

    /// - Returns: where the words end.
    func pack(
        _ column: UnsafeMutableBufferPointer<UInt32>, _ count: Int, _ target: UnsafeMutableRawPointer, at start: Int
    ) -> Int {
        guard width > 0 else { return start }
        var (offset, last) = (start, base)
        let shift = UInt32(shift)
        for index in 0..<count {
            let value = column[index]
            target.storeBytes(of: (value &- last) >> shift, toByteOffset: offset, as: UInt32.self)
            if isDifference { last = value }
            offset += width
        }
        return offset
    }

    func unpack(
        _ block: UnsafeRawBufferPointer, at start: Int, _ column: UnsafeMutableBufferPointer<UInt32>, _ count: Int
    ) {
        let mask = width == 0 ? 0 : UInt32.max >> UInt32(32 - 8 * width)
        var (offset, last) = (start, base)
        let shift = UInt32(shift)
        for index in 0..<count {
            let value = block.loadUnaligned(fromByteOffset: offset, as: UInt32.self) & mask
            column[index] = last &+ (value << shift)
            if isDifference { last = column[index] }
            offset += width
        }
    }
}
