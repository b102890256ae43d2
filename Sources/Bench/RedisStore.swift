// SPDX-License-Identifier: MIT
import Glibc

/// Stores the value that a comparison with Redis asks for.
public enum RedisStore {
    public static func set(_ key: String, bytes: Int, path: String) throws {
        let descriptor = try LoadSocket.connect(to: path)
        defer { close(descriptor) }
        var request = RedisLoad.command(["SET", key, String(repeating: "x", count: bytes)])[...]
        var answer: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        defer { buffer.deallocate() }
        while answer.last != UInt8(ascii: "\n") {
            let events = Int16(truncatingIfNeeded: POLLIN | (request.isEmpty ? 0 : POLLOUT))
            var polled = [pollfd(fd: descriptor, events: events, revents: 0)]
            LoadSocket.wait(&polled, milliseconds: 1000)
            if !request.isEmpty, case .bytes(let count) = LoadSocket.send(descriptor, request) {
                request = request.dropFirst(count)
            }
            switch LoadSocket.receive(descriptor, into: buffer) {
            case .bytes(let count): answer += buffer[..<count]
            case .wouldBlock: break
            case .closed: throw BenchError(message: "redis at \(path) has closed the connection")
            }
        }
        guard answer.first == UInt8(ascii: "+") else {
            throw BenchError(message: "redis: " + String(decoding: answer, as: UTF8.self))
        }
    }
}
