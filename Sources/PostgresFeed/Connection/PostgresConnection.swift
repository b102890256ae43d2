// SPDX-License-Identifier: MIT
import EventLoop

/// A connection to the server, on the loop: one statement at a time, with results delivered by callbacks. It
/// never blocks the loop's thread.
///
/// After a connection error, each pending callback gets the error, and nothing works any more.
final class PostgresConnection {
    typealias Answer = Result<[ServerResult], PostgresError>

    /// Receives copied data message by message, and then the outcome.
    struct CopyReceiver {
        /// Called when the server has begun.
        var started: () -> Void = {}
        /// Called with each message.
        let data: (Span<UInt8>) -> Void
        let ended: (Result<Void, PostgresError>) -> Void
    }

    /// The statement that is running.
    private struct Statement {
        /// Receives what it copies.
        let receiver: CopyReceiver?
        let ended: (Answer) -> Void
        /// Whether copied messages may follow, before the outcome.
        var isCopying = false
        var results: [ServerResult] = []
    }

    private let loop: EventLoop
    private let handle: ConnectionHandle
    private var watcher: DescriptorWatcher?
    private var statement: Statement?
    private var continuation: Timer?
    private(set) var isClosed = false
    /// The largest message so far, in bytes. libpq's buffer has had room for it since, and shrinks only when
    /// the connection is closed.
    private(set) var largestMessageBytes = 0
    /// Called with the bytes that libpq holds for large messages, when that changes: twice the largest
    /// message while it is read, because libpq copies it, and then once.
    var onHold: (Int) -> Void = { _ in }
    /// When something last arrived, in milliseconds of the loop's clock.
    private(set) var lastArrival: UInt64

    /// Called when the connection is lost while no statement is running.
    var onLoss: ((PostgresError) -> Void)?

    /// Takes ownership of an established connection.
    init(on loop: EventLoop, _ handle: ConnectionHandle) throws(PostgresError) {
        (self.loop, self.handle) = (loop, handle)
        lastArrival = loop.now
        do throws(EventLoopError) {
            watcher = try DescriptorWatcher(on: loop, descriptor: handle.descriptor) { [weak self] ready in
                self?.proceed(ready)
            }
        } catch {
            throw PostgresError("\(error)")
        }
        watcher?.watch(for: .readable)
    }

    /// Whether reading from the socket has stopped, so that the server has to wait.
    var isPaused = false {
        didSet {
            guard isPaused != oldValue, !isClosed else { return }
            watchSocket(needsWriting: watcher?.interest.contains(.writable) ?? false)
            // libpq may hold messages that arrived earlier.
            guard !isPaused else { return }
            lastArrival = loop.now
            continueSoon()
        }
    }

    /// Runs SQL or a replication command; one text may contain several statements.
    func query(_ sql: String, _ then: @escaping (Answer) -> Void) {
        begin(sql, Statement(receiver: nil, ended: then))
    }

    /// Runs `COPY … TO STDOUT` or `START_REPLICATION`.
    func copy(_ sql: String, to receiver: CopyReceiver) {
        let statement = Statement(receiver: receiver) { answer in
            receiver.ended(
                answer.flatMap { results in
                    results.contains(.copy) ? .success(()) : .failure(PostgresError("the server copied nothing"))
                })
        }
        begin(sql, statement)
    }

    /// Sends a message to the server during a copy in both directions.
    func send(copyData bytes: [UInt8]) {
        guard !isClosed else { return }
        do throws(PostgresError) {
            try handle.send(copyData: bytes)
            watchSocket(needsWriting: try !handle.flush())
        } catch {
            fail(error)
        }
    }

    /// Closes the connection; no callback follows.
    func close() {
        isClosed = true
        (watcher, continuation, statement, onLoss, onHold) = (nil, nil, nil, nil, { _ in })
    }

    private func begin(_ sql: String, _ next: Statement) {
        guard !isClosed else { return next.ended(.failure(PostgresError("the connection is closed"))) }
        statement = next
        do throws(PostgresError) {
            try handle.send(sql)
            watchSocket(needsWriting: try !handle.flush())
        } catch {
            fail(error)
        }
    }

    private func watchSocket(needsWriting: Bool) {
        var interest: DescriptorWatcher.Readiness = isPaused ? [] : .readable
        if needsWriting { interest.insert(.writable) }
        watcher?.watch(for: interest)
    }

    private func proceed(_ ready: DescriptorWatcher.Readiness) {
        do throws(PostgresError) {
            if ready.contains(.writable) { watchSocket(needsWriting: try !handle.flush()) }
            guard ready.contains(.readable), !isPaused else { return }
            lastArrival = loop.now
            try handle.consumeInput()
            try advance()
        } catch {
            fail(error)
        }
    }

    /// Processes what has already arrived.
    private func advance() throws(PostgresError) {
        while let running = statement {
            if running.isCopying, let receiver = running.receiver {
                guard try drain(receiver) else { return }
                statement?.isCopying = false
                continue
            }
            guard !handle.isBusy else { return }
            guard let result = handle.nextResult() else {
                finish(running)
                continue
            }
            statement?.results.append(result)
            if result == .copy, let receiver = running.receiver {
                statement?.isCopying = true
                receiver.started()
            }
        }
    }

    /// How many bytes are processed before the loop runs other callbacks.
    private static let bytesAtOnce = 256 << 10

    /// Smaller messages are not worth a report.
    private static let largeMessageBytes = 1 << 20

    /// Passes on copied messages; returns true once there are no more to come.
    private func drain(_ receiver: CopyReceiver) throws(PostgresError) -> Bool {
        var bytes = 0
        while !isClosed {
            if isPaused { return false }
            if bytes > Self.bytesAtOnce {
                continueSoon()
                return false
            }
            let read = try handle.readCopyData { message in
                bytes += message.count
                let isLargest = message.count > max(largestMessageBytes, Self.largeMessageBytes)
                if isLargest {
                    largestMessageBytes = message.count
                    onHold(2 * message.count)
                }
                receiver.data(message)
                if isLargest { onHold(largestMessageBytes) }
            }
            switch read {
            case .data: continue
            case .nothingYet: return false
            case .ended: return true
            }
        }
        return false
    }

    private func continueSoon() {
        guard continuation == nil else { return }
        continuation = Timer(on: loop, delay: 0) { [weak self] in
            guard let self else { return }
            continuation = nil
            guard !isPaused, !isClosed else { return }
            do throws(PostgresError) { try advance() } catch { fail(error) }
        }
    }

    private func finish(_ done: Statement) {
        statement = nil
        for case .failed(let error) in done.results { return done.ended(.failure(error)) }
        done.ended(.success(done.results))
    }

    private func fail(_ error: PostgresError) {
        guard !isClosed else { return }
        // The server may have sent a reason before it closed the connection.
        var reason = error
        if case .failed(let last)? = statement?.results.last { reason = last }
        let (lost, loss) = (statement, onLoss)
        close()
        if let lost { lost.ended(.failure(reason)) } else { loss?(reason) }
    }
}

/// The server's result of a statement.
enum ServerResult: Sendable, Equatable {
    /// The values of rows, in text form.
    case rows([[String?]])
    /// A statement without rows has completed.
    case done
    /// The server sends copied rows next, or replication has begun.
    case copy
    case failed(PostgresError)
}

extension [ServerResult] {
    /// The rows of the last result that has rows.
    var rows: [[String?]] {
        for case .rows(let rows) in reversed() { return rows }
        return []
    }
}

/// The settings of every session of a feed, so that a value has the same text in all of them.
enum SessionSettings {
    static let sql = [
        "DateStyle = 'ISO, MDY'", "IntervalStyle = 'postgres'", "TimeZone = 'UTC'", "extra_float_digits = 3",
        "bytea_output = 'hex'", "lc_monetary = 'C'", "search_path = ''",
        // Makes a policy that hides rows an error, instead of a copy that differs from the changes.
        "row_security = off", "statement_timeout = 0", "lock_timeout = 0", "idle_in_transaction_session_timeout = 0",
    ].map { "SET \($0);" }.joined(separator: " ")
}
