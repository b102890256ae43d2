// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// A file of an archive's writer. It has no name until `publish`, and its errors are the archive's.
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

    /// Reads bytes that were written.
    func read(at offset: UInt64, count: Int) throws(ArchiveError) -> [UInt8] {
        try ArchiveError.translating { () throws(FileError) in try file.read(count, at: Int(offset)) }
    }

    /// Removes the bytes from `size` on.
    func truncate(to size: UInt64) throws(ArchiveError) {
        try ArchiveError.translating { () throws(FileError) in try file.truncate(to: Int(size)) }
    }

    /// Returns once the file's bytes are on disk.
    func synchronize() throws(ArchiveError) {
        try ArchiveError.translating { () throws(FileError) in try file.synchronize() }
    }

    /// Gives the file its name, as a whole.
    ///
    /// - Parameter overwrite: whether a file of that name is replaced. Otherwise such a file is an error.
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
