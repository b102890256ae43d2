// SPDX-License-Identifier: MIT

/// An answer that a load generator has seen the end of.
public struct LoadAnswer: Equatable {
    /// Which of the connection's requests it answers.
    public let slot: Int
    /// As received, framing included.
    public let bytes: Int
    public let isError: Bool
}

/// The wire of a server under load: writes requests, and follows the answers without keeping them.
public protocol LoadProtocol {
    /// Appends the next request. `slot` is below the connection's depth and comes back with the answer.
    mutating func appendRequest(slot: Int, to bytes: inout [UInt8])

    /// Takes in received bytes, cut anywhere, and appends each answer that ends in them.
    mutating func receive(_ bytes: UnsafeRawBufferPointer, into answers: inout [LoadAnswer])
}

/// How a peer's answers begin.
protocol LoadHead {
    /// What the beginning of an answer contains: the answer, and how long its head is; nil if that much has not
    /// come yet.
    mutating func read(_ bytes: UnsafeRawBufferPointer) -> (answer: LoadAnswer, length: Int)?
}

/// Follows answers by their heads: those are looked at where they lie, and kept only where they are cut; the rest is
/// counted.
struct LoadAnswers {
    private var cut: [UInt8] = []
    private var left = 0
    private var answer = LoadAnswer(slot: 0, bytes: 0, isError: false)

    mutating func receive(
        _ bytes: UnsafeRawBufferPointer, _ head: inout some LoadHead, into answers: inout [LoadAnswer]
    ) {
        var place = 0
        while place < bytes.count {
            if left == 0 {
                guard let length = begin(UnsafeRawBufferPointer(rebasing: bytes[place...]), &head) else {
                    return
                }
                place += length
            }
            let passed = min(left, bytes.count - place)
            left -= passed
            place += passed
            if left == 0 { answers.append(answer) }
        }
    }

    /// Reads a head of which some may have come before; returns how much of `bytes` belongs to it, nil if it goes
    /// on after them.
    private mutating func begin(_ bytes: UnsafeRawBufferPointer, _ head: inout some LoadHead) -> Int? {
        let before = cut.count
        var found: (answer: LoadAnswer, length: Int)?
        if before == 0 {
            found = head.read(bytes)
        } else {
            // Mostly a little more is enough.
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
