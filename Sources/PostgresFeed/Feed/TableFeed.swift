// SPDX-License-Identifier: MIT
import EventLoop

/// Follows one table of a PostgreSQL server: copies it, then delivers its transactions in commit order, and keeps at it
/// through whatever happens to the connection and the server. All of it is for the loop's thread.
///
/// Several transactions may be delivered before the first is confirmed; beyond a window the feed stops reading, and the
/// server keeps the log. The server may forget what was confirmed.
public final class TableFeed {
    public let configuration: TableFeedConfiguration
    public private(set) var status = FeedStatus()
    private let loop: EventLoop
    private weak var consumer: (any TableFeedConsumer)?

    /// - Parameter consumer: held weakly.
    public init(
        on loop: EventLoop, _ configuration: TableFeedConfiguration, consumer: any TableFeedConsumer
    ) {
        (self.loop, self.configuration, self.consumer) = (loop, configuration, consumer)
    }

    /// Begins to connect.
    ///
    /// - Parameter position: the last that was made durable; nil for a copy. If the server cannot go on from there, there
    ///   is a copy too.
    public func start(from position: FeedPosition?) {}

    /// Everything up to this position is applied and durable. Positions ascend; the last of several is enough.
    public func confirm(_ position: FeedPosition) {}

    /// The consumer is done with a piece of a copy.
    public func take(_ piece: CopyPiece) {}

    /// Copies the table again, beside the present data, because those are of no use any more.
    ///
    /// - Parameter reason: a sentence for the log.
    public func copyAgain(_ reason: String) {}

    /// Disconnects; no callback comes afterwards but `then`. The slot stays.
    public func stop(_ then: @escaping () -> Void) { then() }
}
