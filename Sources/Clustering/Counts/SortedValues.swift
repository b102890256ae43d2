// SPDX-License-Identifier: MIT
import SystemSupport

/// Finite numbers in ascending order, compressed: what follows from their neighbours is not stored.
///
/// Blocks of 128 numbers have their first one in full and the differences to the next ones in as many bits as the
/// greatest needs. Differences are of integers: the numbers themselves times a power of two if that makes all of them
/// integers (times in milliseconds, counts, most measurements), else their bit patterns, whose order is the same.
///
/// Invariant: `heads` has two words for each block, and `bits` what they refer to.
struct SortedValues: Sendable {
    static let blockCount = 128

    let count: Int
    let scale: Scale
    /// For each block its first number as an integer, then the offset of its bits times 128 plus their width.
    let heads: Column<UInt64>
    let bits: Column<UInt64>

    init?(count: Int, scale: Scale, heads: Column<UInt64>, bits: Column<UInt64>) {
        guard count >= 0, heads.count == 2 * Self.blocks(count), bits.count > 0 else { return nil }
        (self.count, self.scale, self.heads, self.bits) = (count, scale, heads, bits)
    }

    private static func blocks(_ count: Int) -> Int { (count + blockCount - 1) / blockCount }

    var memoryBytes: Int { heads.memoryBytes + bits.memoryBytes }

    /// How numbers become integers of the same order.
    enum Scale: Equatable, Sendable {
        /// Integers after multiplication by two to this power.
        case power(Int)
        /// Bit patterns.
        case pattern

        private static let signBit = UInt64(1) << 63
        /// The greatest distance from 0 of a number that is multiplied.
        private static let most = 0x1p62

        /// The scale for some numbers, none of them negative zero.
        init(_ numbers: some Sequence<Double>) {
            var (power, greatest) = (Int.min, 0.0)
            for number in numbers where number != 0 {
                // The exponent of the lowest bit that is set.
                let lowest = Int(number.ulp.exponent) + number.significandBitPattern.trailing(52)
                power = max(power, -lowest)
                greatest = max(greatest, number.magnitude)
            }
            guard power != .min else {
                self = .power(0)
                return
            }
            let scaled = abs(power) > 1000 ? .infinity : greatest * Double(sign: .plus, exponent: power, significand: 1)
            self = scaled < Self.most ? .power(power) : .pattern
        }

        @inline(__always) func key(_ number: Double) -> UInt64 {
            switch self {
            case .power(let power):
                let scaled = number * Double(sign: .plus, exponent: power, significand: 1)
                return UInt64(bitPattern: Int64(exactly: scaled) ?? 0) &+ Self.signBit
            case .pattern: return Self.key(ofPattern: number)
            }
        }

        /// An integer for each number, in the numbers' order.
        @inline(__always) static func key(ofPattern number: Double) -> UInt64 {
            let pattern = number.bitPattern
            return pattern & signBit == 0 ? pattern | signBit : ~pattern
        }

        @inline(__always) func number(_ key: UInt64) -> Double {
            switch self {
            case .power(let power):
                return Double(Int64(bitPattern: key &- Self.signBit))
                    * Double(sign: .plus, exponent: -power, significand: 1)
            case .pattern:
                return Double(bitPattern: key & Self.signBit == 0 ? ~key : key & ~Self.signBit)
            }
        }

        /// The form in which a file has it.
        var stored: Int64 {
            switch self {
            case .power(let power): Int64(power)
            case .pattern: .max
            }
        }

        init?(stored: Int64) {
            guard stored == .max || abs(stored.clamped) <= 1000 else { return nil }
            self = stored == .max ? .pattern : .power(Int(stored))
        }
    }

    /// - Parameters:
    ///   - numbers: finite, ascending, without negative zeros.
    ///   - count: how many there are.
    init(count: Int, scale: Scale, _ number: (Int) -> Double) {
        let blocks = Self.blocks(count)
        let heads = Scratch<UInt64>(capacity: 2 * blocks)
        let bits = Scratch<UInt64>(growingFrom: 1)
        bits.base[0] = 0
        var end = 0
        for block in 0..<blocks {
            let first = block * Self.blockCount
            var keys: [UInt64] = []
            for index in first..<min(count, first + Self.blockCount) { keys.append(scale.key(number(index))) }
            let greatest = zip(keys.dropFirst(), keys).reduce(0) { max($0, $1.0 &- $1.1) }
            let width = 64 - greatest.leadingZeroBitCount
            heads.base[2 * block] = keys[0]
            heads.base[2 * block + 1] = UInt64(end) << 7 | UInt64(width)
            let words = (end + width * (keys.count - 1) + 63) / 64 + 1
            if words > bits.capacity { bits.grow(to: words) }
            // Grown memory is not cleared; what earlier blocks wrote ends in the word of `end`.
            for word in (end + 63) / 64..<words { bits.base[word] = 0 }
            for (next, former) in zip(keys.dropFirst(), keys) where width > 0 {
                Self.write(next &- former, width: width, at: end, to: bits.base)
                end += width
            }
        }
        self.count = count
        self.scale = scale
        self.heads = heads.finish(count: 2 * blocks)
        self.bits = bits.finish(count: end / 64 + 1)
    }

    private static func write(_ value: UInt64, width: Int, at offset: Int, to words: UnsafeMutablePointer<UInt64>) {
        let (word, bit) = (offset / 64, UInt64(offset % 64))
        words[word] |= value << bit
        if Int(bit) + width > 64 { words[word + 1] |= value >> (64 - bit) }
    }

    @inline(__always) private func read(width: Int, at offset: Int) -> UInt64 {
        guard width > 0 else { return 0 }
        let (word, bit) = (offset &>> 6, UInt64(truncatingIfNeeded: offset & 63))
        var value = bits[within: word] &>> bit
        if Int(bit) &+ width > 64 { value |= bits[within: word &+ 1] << (64 &- bit) }
        return width == 64 ? value : value & ((1 &<< UInt64(truncatingIfNeeded: width)) &- 1)
    }

    /// Calls `body` with the numbers from an index on, until it returns false or the block ends.
    private func visit(block: Int, _ body: (Double) -> Bool) {
        var key = heads[within: 2 * block]
        let head = heads[within: 2 * block + 1]
        let width = min(64, Int(truncatingIfNeeded: head & 127))
        var offset = Int(truncatingIfNeeded: head >> 7)
        for _ in 0..<min(Self.blockCount, count - block * Self.blockCount) {
            guard body(scale.number(key)) else { return }
            key &+= read(width: width, at: offset)
            offset &+= width
        }
    }

    /// The number at an index below `count`.
    subscript(index: Int) -> Double {
        let (block, rest) = index.quotientAndRemainder(dividingBy: Self.blockCount)
        var (left, found) = (rest, 0.0)
        visit(block: block) { number in
            found = number
            left -= 1
            return left >= 0
        }
        return found
    }

    /// All numbers, in ascending order.
    func forEach(_ body: (Int, Double) -> Void) {
        var index = 0
        for block in 0..<Self.blocks(count) {
            visit(block: block) { number in
                body(index, number)
                index += 1
                return true
            }
        }
    }

    /// How many numbers are below a limit, or, if `isInclusive`, not above it.
    ///
    /// - Complexity: O(log(count)).
    func count(below limit: Double, isInclusive: Bool = false) -> Int {
        func isBelow(_ number: Double) -> Bool { isInclusive ? number <= limit : number < limit }
        let block = (0..<Self.blocks(count)).partitionIndex { isBelow(scale.number(heads[within: 2 * $0])) } - 1
        guard block >= 0 else { return 0 }
        var found = block * Self.blockCount
        visit(block: block) { number in
            guard isBelow(number) else { return false }
            found += 1
            return true
        }
        return found
    }
}

extension UInt64 {
    /// The number of zeros below the lowest one, at most `limit`.
    fileprivate func trailing(_ limit: Int) -> Int { Swift.min(limit, trailingZeroBitCount) }
}

extension Int64 {
    /// The number without the least one, whose magnitude is no number.
    fileprivate var clamped: Int64 { Swift.max(self, -.max) }
}
