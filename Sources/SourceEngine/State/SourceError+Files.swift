// SPDX-License-Identifier: MIT
import Aggregates
import ImageStore
import SystemSupport

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
package func onDisk<Result>(_ body: @autoclosure () throws(FileError) -> Result) throws(SourceError) -> Result
{
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
