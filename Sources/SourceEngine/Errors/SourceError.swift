// SPDX-License-Identifier: MIT
import Aggregates
import Expressions
import GeoJSON
import ImageStore
import SystemSupport

/// Why a request to a source was refused.
///
/// The server maps each case to one status. Messages are for people and say what to do.
public enum SourceError: Error, Sendable, Equatable {
    /// A param has an invalid value. The path is relative to the params: `options.radius`.
    case invalidParameter(path: String, message: String)
    /// An expression does not compile. The path names the param; each error has its own path within it.
    case invalidExpression(path: String, errors: [ExpressionError])
    case sourceExists(SourceName)
    /// There is no source of this name; perhaps another was meant.
    case sourceNotFound(SourceName, meant: SourceName? = nil)
    /// The source has no view of this name; it has these.
    case viewNotFound(SourceReference, among: [SourceName])
    case clusterNotFound(Int64)
    case featureNotFound(String)
    /// The source's current revision is not the one that the caller asked for.
    case revisionChanged(asked: UInt64, current: UInt64)
    /// Another change happened meanwhile. A retry may succeed.
    case conflict(String)
    /// What the caller may see of the source cannot be determined: the rule's filter does not fit the caller's claims.
    case unusableRule
    /// A feature of an import is invalid. The index counts from 0 over the whole import.
    case badFeature(index: Int?, reason: String, message: String, feature: InvalidFeature? = nil)
    /// The input as a whole cannot be read as features.
    case unreadableInput(String)
    /// The import has no valid feature and would replace data with nothing. The message says what was found.
    case emptyImport(String)
    /// The file is not in one of these directories, or is not a regular file.
    case forbiddenFile(below: [String])
    /// The file does not exist in any directory that may be read from.
    case missingFile(String)
    /// Evaluating a filter exceeds the limit of steps for all features together.
    case evaluationTooLong(steps: Int)
    /// A limit of this process would be exceeded.
    case tooLarge(String)
    /// The source's files are damaged. The message says what was found.
    case damaged(SourceName, String)
    /// The source's files cannot be read at the moment. The message says why.
    case unavailable(SourceName, String)
    /// The source's files were written by a newer clusterd.
    case otherFormat(SourceName, String)
    /// The disk is full.
    case diskFull(String)
    /// The state directory cannot be written.
    case stateNotWritable(String)
    /// The source's data come from a table, and only its changes change them.
    case followsTable(SourceName, String, WriteAdvice)
    /// The source's data are an image at a path, which never changes.
    case attached(SourceName, String)
    /// The source follows no table, so its data have no positions.
    case followsNothing(SourceName)
    /// The caller has cancelled.
    case cancelled
    /// An invariant of the daemon is violated: a bug.
    case defect(String)
}

extension SourceError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidParameter(let path, let message): "params.\(path): \(message)"
        case .invalidExpression(let path, let errors): Self.describe(path, errors)
        case .sourceExists(let name):
            "a source '\(name)' already exists; delete it first or choose another name"
        case .sourceNotFound(let name, let meant):
            "there is no source '\(name)'" + (meant.map { ": did you mean '\($0)'?" } ?? "")
        case .viewNotFound(let name, let views):
            "there is no view '\(name)': the source '\(name.source)' has "
                + (views.isEmpty
                    ? "no views" : "the views " + views.map { "'\(name.source):\($0)'" }.joined(separator: ", "))
        case .clusterNotFound(let id):
            "there is no cluster \(id) in this source's current data"
        case .featureNotFound(let id): "no feature has the id \(id)"
        case .revisionChanged(let asked, let current):
            "the source is at revision \(current), not \(asked); ask again with the current revision or without one"
        case .conflict(let message), .unreadableInput(let message), .emptyImport(let message),
            .tooLarge(let message), .defect(let message), .diskFull(let message),
            .stateNotWritable(let message):
            message
        case .unusableRule:
            "what you may see of the source cannot be determined: the rule in access.rules does not fit your claims"
        case .evaluationTooLong(let steps):
            "the filter takes more than \(steps) steps for these features; "
                + "make the texts and lists that it reads or makes shorter, or filter by fewer operators"
        case .damaged(let name, let message):
            "the source '\(name)' is damaged: \(message). Restore its files from a copy and restart the daemon, or delete the source and import it again"
        case .unavailable(let name, let message):
            "the source '\(name)' is unavailable: \(message). Its files are unchanged, and the daemon tries again every few seconds"
        case .otherFormat(_, let message): message
        case .badFeature(_, _, let message, _): message
        case .forbiddenFile(let directories):
            "the file may not be read: it has to be a regular file below one of the daemon's import directories"
                + (directories.isEmpty
                    ? ", and it has none (--import-dir)" : ": " + directories.joined(separator: ", "))
        case .missingFile(let path): "there is no file '\(path)'"
        case .followsTable(let name, let table, let advice):
            "the source '\(name)' follows \(table) and is read only: \(advice.rawValue)"
        case .attached(let name, let image):
            "the source '\(name)' is the image \(image) and is read only: load another image in its place, or delete the source and import its features"
        case .followsNothing(let name):
            "the source '\(name)' does not follow a table, so its data have no positions"
        case .cancelled: "the call was cancelled"
        }
    }

    private static func describe(_ path: String, _ errors: [ExpressionError]) -> String {
        guard let first = errors.first else { return "params.\(path): not an expression" }
        return "params.\(path)\(first.key): \(first.message)"
    }
}

extension SourceError {
    package init(_ error: GeoJSONError) {
        switch error {
        case .badFeature(let feature):
            self = .badFeature(
                index: feature.index, reason: feature.fault.rawValue, message: error.message, feature: feature)
        case .malformed, .damaged, .unreadable: self = .unreadableInput(error.message)
        case .tooLarge, .tooMany: self = .tooLarge(error.message)
        case .cancelled: self = .cancelled
        }
    }
}

extension SourceError {
    /// The error of a failed write.
    package init(_ error: FileError) {
        switch error {
        case .failed where error.isOutOfSpace:
            self = .diskFull(error.description + "; nothing has changed. Make room and try again")
        case .failed:
            self = .stateNotWritable(
                error.description + "; nothing has changed. Make the state directory writable")
        case .unusable(let message): self = .stateNotWritable(message)
        }
    }
}

extension SourceError {
    /// The error of a source whose data are unavailable.
    package init(_ fault: StateFault, of name: SourceName) {
        switch fault.kind {
        case .damage: self = .damaged(name, fault.message)
        case .machine: self = .unavailable(name, fault.message)
        case .newerFormat, .olderFormat: self = .otherFormat(name, fault.message)
        }
    }
}

/// Evaluates an expression that works on files, and converts its errors to `SourceError`.
package func onDisk<Result>(_ body: @autoclosure () throws(FileError) -> Result) throws(SourceError) -> Result {
    do throws(FileError) { return try body() } catch { throw SourceError(error) }
}

extension Cancellation {
    /// Throws `cancelled` if nobody waits for the result any more.
    package func stopIfCancelled() throws(SourceError) {
        if isCancelled { throw .cancelled }
    }
}

extension FairLock {
    /// Runs `body` with the lock held. Throws `cancelled` if the work was cancelled while it waited.
    package func withLock<Result>(
        _ cancellation: Cancellation, _ body: () throws(SourceError) -> Result
    ) throws(SourceError) -> Result {
        try withLock(cancellation, orThrow: SourceError.cancelled, body)
    }
}

/// What callers do instead of changing a source that follows a table.
public enum WriteAdvice: String, Sendable {
    case features = "write to the table, and the source takes the change over"
    case options = "change the options in the configuration and reload it"
    case source = "remove the source from the configuration and reload it"
}
