// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// An unnamed file that gets its name by `publish`. Its errors are `ArchiveError`s.
struct ArchiveFile {
    private let file: UnnamedFile

    init(for target: ArchiveTarget) throws(ArchiveError) {
        file = try ArchiveError.translating { () throws(FileError) in
            try UnnamedFile(in: target.directory, path: target.name)
        }
    }

    /// Writes all bytes at an offset from the start.
    func write(_ bytes: [UInt8], at offset: UInt64) throws(ArchiveError) {
        try ArchiveError.translating { () throws(FileError) in try file.write(bytes, at: Int(offset)) }
    }

    /// Reads bytes that were written before.
    func read(at offset: UInt64, count: Int) throws(ArchiveError) -> [UInt8] {
        try ArchiveError.translating { () throws(FileError) in try file.read(count, at: Int(offset)) }
    }

    /// Removes the bytes from `size` on.
    func truncate(to size: UInt64) throws(ArchiveError) {
        try ArchiveError.translating { () throws(FileError) in try file.truncate(to: Int(size)) }
    }

    /// Syncs the file to disk.
    func synchronize() throws(ArchiveError) {
        try ArchiveError.translating { () throws(FileError) in try file.synchronize() }
    }

    /// Gives the complete file its name.
    ///
    /// - Parameter overwrite: whether to replace an existing file of that name. If false, such a file is an error.
    func publish(as name: String, overwrite: Bool) throws(ArchiveError) {
        try ArchiveError.translating { () throws(FileError) in
            try file.publish(as: name, overwrite: overwrite)
        }
    }
}

extension ArchiveError {
    fileprivate static func translating<Result>(
        _ body: () throws(FileError) -> Result
    ) throws(ArchiveError) -> Result {
        do throws(FileError) { return try body() } catch { throw ArchiveError(error) }
    }

    private init(_ error: FileError) {
        self =
            switch error {
            case _ where error.isOutOfSpace: .noSpace
            case .failed(_, let name, EEXIST): .fileExists(name)
            case .failed(_, let name, EISDIR): .isDirectory(name)
            case .failed, .unusable: .system(error)
            }
    }
}
