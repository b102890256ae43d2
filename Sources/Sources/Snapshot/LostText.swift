// SPDX-License-Identifier: MIT
import GeoJSON
import SourceStorage
import SystemSupport

/// Text that could not be written. Every read fails.
package final class LostText: FeatureText {
    package let count: Int
    package let failure: FileError?

    init(count: Int, failure: FileError?) { (self.count, self.failure) = (count, failure) }

    package var memoryBytes: Int { 0 }
    package var isDamaged: Bool { true }
    package var isAtHand: Bool { true }

    package func isAtHand(_ range: Range<Int>, room: inout Int) -> Bool { true }

    package func read(_ range: Range<Int>, into target: UnsafeMutableRawBufferPointer) -> Bool { false }
    package func fill(_ window: UnsafeMutableRawBufferPointer, from place: Int) -> Range<Int>? { nil }
    package func verify(isCancelled: () -> Bool, demand: () -> Int, pause: (() -> Void)?) -> Bool { false }
}

extension FeatureStore {
    /// Throws if the features' text could not be written.
    package func checkWritten() throws(SourceError) {
        guard isDamaged else { return }
        guard let failure = (text as? LostText)?.failure ?? (text as? BlockText)?.failure else {
            throw .stateNotWritable("the disk gives other bytes back than were written; nothing has changed")
        }
        throw SourceError(failure)
    }
}
