// SPDX-License-Identifier: MIT
import EventLoop
import Glibc

/// clusterd's frames. The slot travels as the call's id.
public struct ClusterdLoad: LoadProtocol {
    /// The rest of each request after `{"id":7`. Requests are sent in rotation.
    private let requests: [[UInt8]]
    private var next: Int
    /// The beginning `{"id":7` of requests, by slot.
    private var beginnings: [[UInt8]] = []
    private var head = Head()
    private var answers = LoadAnswers()

    /// - Parameter first: the first request, so that connections do not send the same requests at the same time.
    public init(requests: [[UInt8]], first: Int) {
        self.requests = requests
        next = requests.isEmpty ? 0 : first % requests.count
    }

    public mutating func appendRequest(slot: Int, to bytes: inout [UInt8]) {
        while beginnings.count <= slot { beginnings.append(Array("{\"id\":\(beginnings.count + 1)".utf8)) }
        let length = UInt32(clamping: beginnings[slot].count + requests[next].count)
        bytes.append(0)
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
        bytes.append(contentsOf: beginnings[slot])
        bytes.append(contentsOf: requests[next])
        next = next + 1 == requests.count ? 0 : next + 1
    }

    public mutating func receive(_ bytes: Span<UInt8>, into answers: inout [LoadAnswer]) {
        self.answers.receive(bytes, &head, into: &answers)
    }

    /// Enough of a message to read its id and to distinguish a result from an error.
    private struct Head: LoadHead {
        private static let prefix = 5
        private static let most = prefix + 48

        func read(_ bytes: Span<UInt8>) -> (answer: LoadAnswer, length: Int)? {
            guard bytes.count >= Self.prefix else { return nil }
            let length = Self.prefix + (Int(bytes[1]) << 24 | Int(bytes[2]) << 16 | Int(bytes[3]) << 8 | Int(bytes[4]))
            let end = min(Self.most, length)
            guard bytes.count >= end else { return nil }
            var offset = Self.prefix
            while offset < end, !Self.isDigit(bytes[offset]) { offset += 1 }
            var id = 0
            while offset < end, Self.isDigit(bytes[offset]) {
                id = id &* 10 &+ Int(bytes[offset] - UInt8(ascii: "0"))
                offset += 1
            }
            let isResult =
                end - offset >= Self.result.count
                && Self.result.indices.allSatisfy { bytes[offset + $0] == Self.result[$0] }
            return (LoadAnswer(slot: id &- 1, bytes: length, isError: !isResult), end)
        }

        @inline(__always) private static func isDigit(_ byte: UInt8) -> Bool {
            byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
        }

        private static let result = Array(",\"result\"".utf8)
    }
}

/// The processor time and memory of a daemon (proc(5)).
struct DaemonUsage {
    private let process: Int32
    private let start: Double

    init(process: Int32) {
        self.process = process
        start = Self.processorSeconds(of: process)
    }

    /// The daemon at the other end of a Unix socket.
    init(path: String) throws {
        let loop = try EventLoop()
        var process: Int32 = 0
        Connection.connect(on: loop, path: path) { result in
            guard case .success(let connection) = result else { return }
            process = connection.peer?.processID ?? 0
            connection.close()
        }
        loop.run()
        self.init(process: process)
    }

    /// Processor time since this object was created.
    var processorSeconds: Double { Self.processorSeconds(of: process) - start }

    /// Resident now; 0 if the system does not report it.
    var memoryBytes: Int {
        let fields = Self.read("/proc/\(process)/statm").split(separator: " ")
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * sysconf(Int32(_SC_PAGESIZE))
    }

    private static func processorSeconds(of process: Int32) -> Double {
        let text = read("/proc/\(process)/stat")
        // The name, in parentheses, may contain anything.
        guard let end = text.lastIndex(of: ")") else { return 0 }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
            return 0
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private static func read(_ path: String) -> String {
        guard let file = fopen(path, "re") else { return "" }
        defer { fclose(file) }
        var text = [UInt8](repeating: 0, count: 4096)
        let length = fread(&text, 1, text.count, file)
        return String(decoding: text.prefix(length), as: UTF8.self)
    }
}

/// Why a benchmark cannot run, as a message for its user.
public struct BenchError: Error, CustomStringConvertible {
    let message: String

    public var description: String { message }
}
