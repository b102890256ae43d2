// SPDX-License-Identifier: MIT
import ClusterClient
import EventLoop
import Glibc

/// The system calls of loads that wait for sockets themselves: Unix sockets that never block, and waiting for many.
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
