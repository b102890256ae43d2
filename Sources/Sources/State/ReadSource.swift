// SPDX-License-Identifier: MIT
import Synchronization

/// A source whose files have been read, before it takes its place in the registry. Until then a claim counts its data in the
/// memory budget.
final class ReadSource: Sendable {
    let source: Source
    private let claim: Mutex<MemoryClaim?>

    /// - Parameter claim: nil if the source has no data.
    init(_ source: Source, _ claim: MemoryClaim? = nil) {
        self.source = source
        self.claim = Mutex(claim)
    }

    /// Ends the claim: the registry counts the source.
    func releaseClaim() { claim.withLock { $0 = nil } }
}
