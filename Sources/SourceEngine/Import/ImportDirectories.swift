// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// The directories from which callers may have files read.
///
/// A path is fully resolved, must then lie below one of the directories, and is opened from that
/// directory down without following links, so a link created meanwhile is not followed.
/// A path outside is rejected with the same error whether or not it exists.
public struct ImportDirectories: Sendable {
    private let roots: [Root]

    private struct Root: Sendable {
        /// As configured, without a trailing slash.
        let given: String
        /// With its links resolved.
        let resolved: String
    }

    /// A directory need not exist yet.
    public init(_ paths: [String]) {
        roots = paths.map { path in
            let given = Self.withoutTrailingSlash(path)
            return Root(given: given, resolved: FileSystem.resolve(given) ?? given)
        }
    }

    /// Opens a regular file for reading.
    ///
    /// - Parameter path: absolute, or relative to the directories. The first directory that contains it is used.
    /// - Throws: `forbiddenFile`, or `missingFile` if no directory contains the name.
    public func open(_ path: String) throws(SourceError) -> FileDescriptor {
        guard !path.isEmpty, !path.utf8.contains(0), path.utf8.count < Int(PATH_MAX) else {
            throw forbidden
        }
        var (isMissing, isForbidden) = (false, false)
        for root in roots {
            for below in Self.relativePaths(path, to: root) {
                switch Self.open(below, in: root) {
                case .opened(let descriptor): return descriptor
                case .missing: isMissing = true
                case .forbidden: isForbidden = true
                }
            }
        }
        throw isMissing && !isForbidden ? .missingFile(path) : forbidden
    }

    /// Throws `tooLarge` if a file has more bytes than may be imported.
    ///
    /// - Parameter maximumBytes: 0 for no limit.
    public static func check(_ file: FileDescriptor, maximumBytes: Int) throws(SourceError) {
        guard maximumBytes > 0, file.size > maximumBytes else { return }
        throw .tooLarge(
            "the file has \(file.size) bytes, more than the \(maximumBytes) that may be loaded (limits.maxFileBytes)")
    }

    private var forbidden: SourceError {
        .forbiddenFile(below: roots.map { $0.given.isEmpty ? "/" : $0.given })
    }

    private enum Outcome {
        case opened(FileDescriptor)
        case missing
        case forbidden
    }

    /// The possible names of `path` relative to the root; empty if it cannot be below.
    private static func relativePaths(_ path: String, to root: Root) -> [String] {
        guard path.utf8.first == UInt8(ascii: "/") else { return [path] }
        return [root.given, root.resolved].compactMap { prefix in
            path.hasExactPrefix(prefix + "/") ? String(path.utf8.dropFirst(prefix.utf8.count + 1)) : nil
        }
    }

    private static func open(_ path: String, in root: Root) -> Outcome {
        let components = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        guard !components.isEmpty, !components.contains(where: { $0.isExactly("..") }) else {
            return .forbidden
        }
        let resolvedRoot = FileSystem.resolve(root.given) ?? root.resolved
        guard let resolved = FileSystem.resolve(resolvedRoot + "/" + components.joined(separator: "/")) else {
            return FileSystem.isPlainlyMissing(components, below: resolvedRoot) ? .missing : .forbidden
        }
        guard resolved.hasExactPrefix(resolvedRoot + "/") else { return .forbidden }
        let below = resolved.utf8.dropFirst(resolvedRoot.utf8.count + 1)
            .split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        guard let descriptor = FileSystem.openRegularFile(below, below: resolvedRoot) else {
            return .forbidden
        }
        return .opened(descriptor)
    }

    private static func withoutTrailingSlash(_ path: String) -> String {
        var bytes = Substring(path)
        while bytes.utf8.count > 1, bytes.utf8.last == UInt8(ascii: "/") { bytes = bytes.dropLast() }
        return bytes == "/" ? "" : String(bytes)
    }
}

extension String {
    /// Whether the bytes begin with those of `prefix`. Swift's own comparison uses canonical equivalence.
    fileprivate func hasExactPrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    fileprivate func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
