// SPDX-License-Identifier: MIT
import EventLoop
import Glibc
import Synchronization
import Testing

import class Foundation.FileManager
import class Foundation.NSData
import struct Foundation.UUID

@Suite("Event loop") struct EventLoopTests {
    private let path = FileManager.default.temporaryDirectory
        .appendingPathComponent("e\(UUID().uuidString.prefix(8)).sock").path

    @Test("posts run in order on the loop") func postsRunInOrderOnTheLoop() throws {
        let loop = try EventLoop()
        let keep = Timer(on: loop, delay: 60_000) {}
        let seen = Mutex<[Int]>([])
        let bound = LoopBound(loop)
        for number in 0..<100 { loop.remote.post { seen.withLock { $0.append(number) } } }
        loop.remote.post { bound.value.stop() }
        withExtendedLifetime(keep) { loop.run() }
        #expect(seen.withLock { $0 } == Array(0..<100))
    }

    @Test("a socket file that replaced the loop's own is not removed") func keepsForeignSocketFile() throws {
        let loop = try EventLoop()
        let first = try Listener(on: loop, path: path) { _ in }
        try FileManager.default.removeItem(atPath: path)
        let second = try Listener(on: loop, path: path) { _ in }
        first.close()
        #expect(FileManager.default.fileExists(atPath: path))
        second.close()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("a path that begins with an at sign is a file like any other") func readsPathAfterAtSign() throws {
        let loop = try EventLoop()
        let path = "@e\(UUID().uuidString.prefix(8)).sock"
        let listener = try Listener(on: loop, path: path) { _ in }
        #expect(FileManager.default.fileExists(atPath: path))
        listener.close()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("listening on TCP addresses works") func addressesOfTheInternetAreListenedOn() throws {
        let loop = try EventLoop()
        for host in ["127.0.0.1", "::1"] {
            guard let address = try InternetAddress.resolve(host: host, port: 0).first,
                let listener = try? Listener(on: loop, address: address, { _ in })
            else { continue }
            let bound = try #require(listener.address)
            #expect(bound.host == host)
            #expect(bound.port != 0)
            #expect(bound.isLoopback)
            #expect(!bound.isWildcard)
            #expect(throws: EventLoopError.self) { _ = try Listener(on: loop, address: bound) { _ in } }
            listener.close()
        }
        #expect(try InternetAddress.resolve(host: "0.0.0.0", port: 1).first?.isWildcard == true)
        #expect(try InternetAddress.resolve(host: "192.0.2.1", port: 80).first?.isLoopback == false)
        #expect(try InternetAddress.resolve(host: "192.0.2.1", port: 80).first?.description == "192.0.2.1:80")
        #expect(try InternetAddress.resolve(host: "::", port: 80).first?.description == "[::]:80")
    }

    @Test("any number of bytes round-trips") func bytesGoThereAndBackWhateverTheirNumber() throws {
        let loop = try EventLoop()
        let sent = [UInt8]((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let memory = NSData(bytes: sent, length: sent.count)
        var received: [UInt8] = []
        var accepted: Connection?
        let listener = try Listener(on: loop, path: path) { socket in
            guard let connection = Connection(on: loop, taking: socket) else { return }
            accepted = connection
            connection.start { event in
                switch event {
                case .received(let bytes):
                    let copy = NSData(bytes: bytes.baseAddress, length: bytes.count)
                    connection.write(UnsafeRawBufferPointer(start: copy.bytes, count: copy.length), keeping: copy)
                case .written: break
                case .ended: connection.close()
                }
            }
        }
        var client: Connection?
        Connection.connect(on: loop, path: path) { result in
            guard let connection = try? result.get() else { return loop.stop() }
            client = connection
            connection.start { event in
                switch event {
                case .received(let bytes):
                    received += bytes
                    if received.count == sent.count { loop.stop() }
                case .written: break
                case .ended: loop.stop()
                }
            }
            connection.write(UnsafeRawBufferPointer(start: memory.bytes, count: memory.length), keeping: memory)
        }
        loop.run()
        #expect(received == sent)
        client?.close()
        accepted?.close()
        listener.close()
        loop.run()
    }

    @Test("the system's buffered bytes decrease when the other end reads") func systemQueueShrinksAsPeerReads() throws {
        let loop = try EventLoop()
        let reader = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(reader) }
        var counts: [Int] = []
        let listener = try Listener(on: loop, path: path) { socket in
            defer { loop.stop() }
            guard let connection = Connection(on: loop, taking: socket) else { return }
            let bytes = [UInt8](repeating: 7, count: 1 << 16)
            while bytes.withUnsafeBytes({ connection.tryWrite($0) }) > 0 {}
            counts.append(connection.bytesInSystem)
            var part = bytes
            #expect(recv(reader, &part, part.count, Int32(MSG_WAITALL)) == part.count)
            counts.append(connection.bytesInSystem)
            connection.close()
            counts.append(connection.bytesInSystem)
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(reader, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(status == 0)
        withExtendedLifetime(listener) { loop.run() }
        try #require(counts.count == 3)
        #expect(counts[0] > counts[1], "\(counts)")
        #expect(counts[1] > 0, "\(counts)")
        #expect(counts[2] == 0, "\(counts)")
        listener.close()
    }

    @Test("a failed connection says why") func explainsFailedConnect() throws {
        let loop = try EventLoop()
        var failure: EventLoopError?
        Connection.connect(on: loop, path: path) { result in
            if case .failure(let error) = result { failure = error }
        }
        loop.run()
        #expect(failure?.number == ENOENT)
    }

    @Test("a timer repeats until it is released") func timerRepeatsUntilReleased() throws {
        let loop = try EventLoop()
        var count = 0
        var timer: Timer?
        timer = Timer(on: loop, delay: 1, every: 1) {
            count += 1
            if count == 3 { timer = nil }
        }
        #expect(timer != nil)
        loop.run()
        #expect(count == 3)
    }

    @Test("work runs on another thread and completes on the loop")
    func workRunsElsewhereAndCompletesOnTheLoop() throws {
        let loop = try EventLoop()
        let worker = Mutex<UInt>(0)
        var completedOn: UInt = 0
        loop.work(
            { worker.withLock { $0 = UInt(pthread_self()) } },
            completion: { completedOn = UInt(pthread_self()) })
        loop.run()
        #expect(completedOn == UInt(pthread_self()))
        #expect(worker.withLock { $0 } != completedOn)
    }

    @Test("work of any length gives way to loops", arguments: [false, true]) func niceness(isLong: Bool) throws {
        let loop = try EventLoop()
        let niceness = Mutex<[Int32]>([])
        for _ in 0..<4 {
            loop.work(isLong: isLong) {
                let own = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
                niceness.withLock { $0.append(own) }
            } completion: {
            }
        }
        loop.run()
        // Whoever runs the tests may have given them more.
        let expected = max(5, getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0))
        #expect(niceness.withLock { $0 } == Array(repeating: expected, count: 4))
    }
}
