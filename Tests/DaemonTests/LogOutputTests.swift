// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import Daemon

@Suite("Output of the log") struct LogOutputTests {
    @Test("logging does not wait for a stopped reader, and the line arrives once it reads again")
    func stoppedReader() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        defer {
            close(reader)
            close(writer)
        }
        let flags = fcntl(writer, F_GETFL)
        try #require(fcntl(writer, F_SETFL, flags | Int32(O_NONBLOCK)) == 0)
        let piece = [UInt8](repeating: 0x2E, count: 1 << 12)
        var left = 0
        while true {
            let count = write(writer, piece, piece.count)
            if count < 0 { break }
            left += count
        }
        try #require(fcntl(writer, F_SETFL, flags) == 0)
        let line = "a line of the log\n"
        left += line.utf8.count
        let isWritten = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            LogOutput(writer).write(line)
            isWritten.signal()
        }
        // The limit only ends the wait if the line waits for the reader.
        #expect(isWritten.wait(timeout: .now() + .seconds(60)) == .success)
        var (end, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while left > 0 {
            let count = read(reader, &buffer, min(left, buffer.count))
            try #require(count > 0)
            left -= count
            end = Array((end + buffer[..<count]).suffix(line.utf8.count))
        }
        #expect(String(decoding: end, as: UTF8.self) == line)
    }
}
