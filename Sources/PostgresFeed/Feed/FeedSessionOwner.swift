// SPDX-License-Identifier: MIT
import ReplicationLog

/// Receives a session's reports.
protocol FeedSessionOwner: AnyObject {
    func sessionConnected()
    /// The session cannot continue now, but will continue by itself.
    func sessionWaits(_ reason: String)
    func sessionStartedCopy(_ copy: CopyStart)
    func sessionCopied(_ piece: CopyPiece)
    func sessionFinishedCopy(_ copy: CopyEnd)
    /// Changes are being followed.
    func sessionFollows(serverEnd: LogPosition)
    func sessionCommitted(_ transaction: FeedTransaction)
    /// The catalog was looked at while changes are followed.
    func sessionCheckedCatalog()
    /// The connection holds so many bytes of memory for large messages.
    func sessionHolds(bytes: Int)
    /// All transactions before this position have been delivered.
    func sessionIsIdle(at position: FeedPosition)
    func sessionReceived(bytes: Int, serverEnd: LogPosition?)
    func sessionSpooled(bytes: Int)
    /// The connection is closed. This is the last call.
    func sessionEnded(_ end: FeedSession.End)
}
