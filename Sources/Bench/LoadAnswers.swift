// SPDX-License-Identifier: MIT

/// Follows answers by their heads. A head is parsed in place, and copied only if it is cut; the rest is
/// counted.
struct LoadAnswers {
    private var cut: [UInt8] = []
    private var left = 0
    private var answer = LoadAnswer(slot: 0, bytes: 0, isError: false)

    mutating func receive(
        _ bytes: UnsafeRawBufferPointer, _ head: inout some LoadHead, into answers: inout [LoadAnswer]
    ) {
        var offset = 0
        while offset < bytes.count {
            if left == 0 {
                guard let length = begin(UnsafeRawBufferPointer(rebasing: bytes[offset...]), &head) else {
                    return
                }
                offset += length
            }
            let passed = min(left, bytes.count - offset)
            left -= passed
            offset += passed
            if left == 0 { answers.append(answer) }
        }
    }

    /// Reads a head that may have begun earlier. Returns how much of `bytes` belongs to it; nil if it
    /// continues after them.
    private mutating func begin(_ bytes: UnsafeRawBufferPointer, _ head: inout some LoadHead) -> Int? {
        let before = cut.count
        var found: (answer: LoadAnswer, length: Int)?
        if before == 0 {
            found = head.read(bytes)
        } else {
            // A few more bytes are usually enough.
            for part in [bytes.prefix(Self.mostHeads), bytes.dropFirst(Self.mostHeads)] where found == nil {
                cut.append(contentsOf: part)
                found = cut.withUnsafeBytes { head.read($0) }
            }
        }
        guard let found else {
            if before == 0 { cut.append(contentsOf: bytes) }
            return nil
        }
        cut.removeAll(keepingCapacity: true)
        answer = found.answer
        left = answer.bytes - found.length
        return found.length - before
    }

    /// Most heads are shorter.
    private static let mostHeads = 64
}
