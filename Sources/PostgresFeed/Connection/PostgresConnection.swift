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

    private enum Work {
        case idle
        case statement((Answer) -> Void)
        case copying(CopyReceiver)
        /// The rows have been copied; the statement's outcome is still to come.
        case endingCopy(CopyReceiver)
    }

    private let loop: EventLoop
    private let handle: ConnectionHandle
    private var watcher: DescriptorWatcher?
    private var work = Work.idle
    private var results: [ServerResult] = []
    private var receiver: CopyReceiver?
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
        begin(sql, .statement(then), failed: { then(.failure($0)) })
    }

    /// Runs `COPY … TO STDOUT` or `START_REPLICATION`.
    func copy(_ sql: String, to receiver: CopyReceiver) {
        self.receiver = receiver
        begin(
            sql,
            .statement { [weak self] answer in
                // If there is no copy, there is only the outcome.
                self?.receiver = nil
                receiver.ended(answer.flatMap { _ in .failure(PostgresError("the server copied nothing")) })
            }, failed: { receiver.ended(.failure($0)) })
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
        (watcher, continuation, receiver, onLoss, onHold) = (nil, nil, nil, nil, { _ in })
        work = .idle
    }

    private func begin(_ sql: String, _ next: Work, failed: (PostgresError) -> Void) {
        guard !isClosed else { return failed(PostgresError("the connection is closed")) }
        results = []
        work = next
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
        while !isClosed {
            switch work {
            case .idle: return
            case .copying(let receiver):
                guard try drain(receiver) else { return }
            case .statement, .endingCopy:
                guard !handle.isBusy else { return }
                guard let result = handle.nextResult() else {
                    finish()
                    continue
                }
                if result == .copyOut || result == .copyBoth, let receiver {
                    self.receiver = nil
                    work = .copying(receiver)
                    receiver.started()
                } else {
                    results.append(result)
                }
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
            case .ended:
                if !isClosed { work = .endingCopy(receiver) }
                return true
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

    private func finish() {
        let (done, results) = (work, results)
        (work, self.results) = (.idle, [])
        let failure = results.compactMap { result -> PostgresError? in
            if case .failed(let error) = result { error } else { nil }
        }.first
        switch done {
        case .statement(let then): then(failure.map { .failure($0) } ?? .success(results))
        case .endingCopy(let receiver): receiver.ended(failure.map { .failure($0) } ?? .success(()))
        case .idle, .copying: break
        }
    }

    private func fail(_ error: PostgresError) {
        guard !isClosed else { return }
        // The server may have sent a reason before it closed the connection.
        var reason = error
        if case .failed(let last)? = results.last { reason = last }
        let (lost, loss) = (work, onLoss)
        close()
        switch lost {
        case .statement(let then): then(.failure(reason))
        case .copying(let receiver), .endingCopy(let receiver): receiver.ended(.failure(reason))
        case .idle: loss?(reason)
        }
    }
}

/// The server's result of a statement.
enum ServerResult: Sendable, Equatable {
    /// The values of rows, in text form.
    case rows([[String?]])
    /// A statement without rows has completed.
    case done
    /// The server sends copied rows next.
    case copyOut
    /// Both sides send data: replication has begun.
    case copyBoth
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
        "row_security = off",
        "statement_timeout = 0", "lock_timeout = 0", "idle_in_transaction_session_timeout = 0",
    ].map { "SET \($0);" }.joined(separator: " ")
}
