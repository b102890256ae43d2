// SPDX-License-Identifier: MIT
import ClusterClient
import EventLoop
import Glibc

/// The system calls of loads that wait for sockets themselves: Unix sockets that never block, and waiting for
/// many.
enum LoadSocket {
    /// Connects. The socket is non-blocking afterwards.
    static func connect(to path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw FeatureInputError(name: path, number: errno) }
        guard let address = UnixSocketAddress(path: path) else {
            close(descriptor)
            throw FeatureInputError(name: path, number: ENAMETOOLONG)
        }
        guard address.connect(descriptor) == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
            let number = errno
            close(descriptor)
            throw FeatureInputError(name: path, number: number)
        }
        return descriptor
    }

    enum Transfer: Equatable { case bytes(Int), wouldBlock, closed }

    static func send(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Transfer {
        result(
            bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            })
    }

    static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        result(recv(descriptor, buffer.baseAddress, buffer.count, 0))
    }

    private static func result(_ count: Int) -> Transfer {
        if count > 0 { return .bytes(count) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? .wouldBlock : .closed
    }

    /// Waits until a socket is ready, at most for the given time, and marks the ready ones.
    static func wait(_ polled: inout [pollfd], milliseconds: Int32) {
        let count = nfds_t(polled.count)
        if poll(&polled, count, milliseconds) < 0 {
            for index in polled.indices { polled[index].revents = 0 }
        }
    }

    /// Nanoseconds of the monotonic clock.
    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// Reads the ids and revisions of clusterd's messages while keeping only their ends.
struct FrameTails {
    struct Message: Equatable {
        let id: Int
        /// nil if the message contains none, as an error does.
        let revision: Int?
        /// As received, framing included.
        let bytes: Int
    }

    /// Enough to contain an id, and the revision near the end of an item or a description.
    private static let kept = 64
    private static let tail = 800

    private var prefix: [UInt8] = []
    private var head: [UInt8] = []
    private var end: [UInt8] = []
    private var left = 0
    private var length = 0

    mutating func receive(_ bytes: UnsafeRawBufferPointer, _ report: (Message) -> Void) {
        var offset = 0
        while offset < bytes.count {
            if prefix.count < 5 {
                prefix.append(bytes[offset])
                offset += 1
                guard prefix.count == 5 else { continue }
                length = prefix[1...].reduce(0) { $0 << 8 | Int($1) }
                left = length
            }
            let taken = min(left, bytes.count - offset)
            keep(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + taken]))
            offset += taken
            left -= taken
            if left == 0 { finish(report) }
        }
    }

    private mutating func keep(_ bytes: UnsafeRawBufferPointer) {
        head.append(contentsOf: bytes.prefix(Self.kept - head.count))
        if end.count > 2 * Self.tail { end.removeFirst(end.count - Self.tail) }
        end.append(contentsOf: bytes.suffix(Self.tail))
    }

    private mutating func finish(_ report: (Message) -> Void) {
        report(
            Message(
                id: Self.number(in: head.dropFirst("{\"id\":".utf8.count)) ?? 0,
                revision: Self.revision(in: end.suffix(Self.tail)), bytes: 5 + length))
        prefix.removeAll(keepingCapacity: true)
        head.removeAll(keepingCapacity: true)
        end.removeAll(keepingCapacity: true)
    }

    private static let word = Array("\"revision\":".utf8)

    /// The last of the text.
    private static func revision(in bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= word.count else { return nil }
        for offset in (bytes.startIndex...bytes.endIndex - word.count).reversed()
        where bytes[offset...].starts(with: word) {
            return number(in: bytes[(offset + word.count)...])
        }
        return nil
    }

    private static func number(in bytes: ArraySlice<UInt8>) -> Int? {
        let digits = bytes.prefix { (48...57).contains($0) }
        return digits.isEmpty ? nil : digits.reduce(0) { $0 &* 10 &+ Int($1 &- 48) }
    }
}
