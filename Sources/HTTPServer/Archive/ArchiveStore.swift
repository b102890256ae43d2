// SPDX-License-Identifier: MIT
import Synchronization
import SystemSupport

/// Archives below the directories that `PublishTiles` may write to. Safe from any thread.
final class ArchiveStore: Sendable {
    private let directories = Mutex<[String]>([])

    /// - Parameter paths: absolute paths; a directory need not exist yet.
    func setDirectories(_ paths: [String]) { directories.withLock { $0 = paths } }

    /// Opens an archive. Links are not followed, and files whose names begin with a dot are not found.
    ///
    /// Blocks: call it only on pool threads.
    ///
    /// - Parameter names: the path below one of the store's directories: directories, then the file.
    func open(_ names: [String]) -> ServedArchive? {
        guard names.allSatisfy({ !$0.hasPrefix(".") && !$0.isEmpty && !$0.utf8.contains(UInt8(ascii: "/")) })
        else { return nil }
        for directory in directories.withLock({ $0 }) {
            guard let root = FileSystem.resolve(directory),
                let file = FileSystem.openRegularFile(names, below: root),
                let archive = ServedArchive(file)
            else { continue }
            return archive
        }
        return nil
    }
}
