// SPDX-License-Identifier: MIT
import Clustering
import Synchronization
import SystemSupport

/// Decides whether an index lies in memory or, if the sources may not hold it, in a mapped file of the state directory.
struct IndexPlacement {
    let shared: SharedState

    /// What an index of a point takes at least, in bytes.
    private static let bytesOfPoint = 32

    /// Whether the index of so many points may lie in a file. That of a few points never does.
    func mayMap(points: Int) -> Bool {
        shared.directory != nil && points * Self.bytesOfPoint >= shared.limits.indexInMemory
    }

    /// Whether the sources may hold so many bytes more.
    func hasRoom(for bytes: Int) -> Bool { !shared.limits.mapsIndexes && shared.memory.hasRoom(for: bytes) }

    /// The view of a build, its index in a file if the sources may not hold it in memory.
    ///
    /// - Parameter others: bytes that the revision will hold besides the view and what is claimed.
    func placed(_ view: View, beside others: Int) throws(SourceError) -> View {
        guard mayMap(points: view.index.pointCount), !hasRoom(for: view.memoryBytes + others) else {
            return view
        }
        return try onDisk(try mapped(view)) ?? view
    }

    /// The view of a snapshot that a start has read, its index in a file if the sources may not hold it in memory. Acknowledged data
    /// stay available: if no file can be made, the index stays in memory.
    ///
    /// - Parameters:
    ///   - bytes: what the snapshot's data hold, with the view.
    ///   - path: the snapshot's, for messages.
    /// - Returns: nil if the index stays in memory, and a claim that counts the data until the source is published.
    func found(_ view: View, bytes: Int, path: String) -> (mapped: View?, claim: MemoryClaim) {
        let claim = shared.memory.claim(for: nil)
        let stays = shared.placing.withLock { _ in
            let stays = !mayMap(points: view.index.pointCount) || hasRoom(for: bytes)
            let claimed = stays ? bytes : bytes - view.index.memoryBytes
            shared.memory.whileRecovering { try? claim.grow(to: claimed) }
            return stays
        }
        guard !stays else { return (nil, claim) }
        do throws(FileError) {
            return (try mapped(view), claim)
        } catch {
            shared.report(
                StateEvent(
                    gravity: .warning, source: nil,
                    message:
                        "\(path): its index stays in memory beyond limits.memoryBytes: \(error.description)"))
            return (nil, claim)
        }
    }

    private func mapped(_ view: View) throws(FileError) -> View? {
        guard let directory = shared.directory else { return nil }
        let index = try view.index.mapped(columnsFrom: shared.limits.columnInMemory) {
            (contents) throws(FileError) in try MappedRegion(contents, in: directory.path)
        }
        return index.map { view.with($0) }
    }
}
