// SPDX-License-Identifier: MIT
import Glibc
import Synchronization

/// The access log in the combined format: one line for each request. Safe from any thread.
///
/// Lines are collected and written together, at the latest by the next `flush`. `reopen` opens the file again
/// after it has been renamed for rotation. The file may be a pipe (fifo(7)): nobody waits for its reader.
final class AccessLog: Sendable {
    private struct State: ~Copyable {
        var path: String?
        var descriptor: Int32 = -1
        var lines: [UInt8] = []
    }

    private let state = Mutex(State())
    private let isOn = Atomic<Bool>(false)

    /// From this many bytes, lines are written at once.
    private static let batch = 32 << 10
    /// While this many bytes wait for the reader of a pipe, further lines are lost.
    private static let mostWaiting = 1 << 20

    /// Opens the file. Returns why it cannot be opened, in words for a person; nil if it was opened.
    func reopen(_ path: String?) -> String? {
        state.withLock { state in
            Self.write(&state)
            state.lines = []
            if state.descriptor >= 0 { close(state.descriptor) }
            state.descriptor = -1
            state.path = path
            isOn.store(path != nil, ordering: .relaxed)
            guard let path else { return nil }
            let flags = O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK
            state.descriptor = open(path, O_WRONLY | flags, 0o640)
            // A pipe without a reader can be opened only for reading as well; its reader may come later.
            if state.descriptor < 0, errno == ENXIO { state.descriptor = open(path, O_RDWR | flags, 0o640) }
            return state.descriptor >= 0
                ? nil : "cannot open the access log \(path): \(String(cString: strerror(errno)))"
        }
    }

    func record(_ entry: @autoclosure () -> Entry) {
        guard isOn.load(ordering: .relaxed) else { return }
        let entry = entry()
        state.withLock { state in
            guard state.lines.count < Self.mostWaiting else { return Self.write(&state) }
            state.lines += entry.line.utf8
            if state.lines.count >= Self.batch { Self.write(&state) }
        }
    }

    func flush() {
        guard isOn.load(ordering: .relaxed) else { return }
        state.withLock { Self.write(&$0) }
    }

    /// Lines that the file system does not accept are lost: a full disk must not stop the service. What a pipe does not
    /// accept yet is kept.
    private static func write(_ state: inout State) {
        while !state.lines.isEmpty, state.descriptor >= 0 {
            let count = Glibc.write(state.descriptor, state.lines, state.lines.count)
            if count > 0 {
                state.lines.removeFirst(count)
            } else if count < 0, errno == EAGAIN {
                return
            } else if count == 0 || errno != EINTR {
                break
            }
        }
        state.lines.removeAll(keepingCapacity: true)
    }

    struct Entry {
        var address: String
        var user: String
        var moment: String
        var requestLine: String
        var status: Int
        var bytes: Int
        var referer: String?
        var userAgent: String?

        var line: String {
            let (request, referer, userAgent) = (
                Self.escaped(requestLine), Self.escaped(referer.map(QueryTokens.removed) ?? "-"),
                Self.escaped(userAgent ?? "-")
            )
            let size = bytes > 0 ? String(bytes) : "-"
            return "\(address) - \(user) [\(moment)] \"\(request)\" \(status) \(size) \"\(referer)\" \"\(userAgent)\"\n"
        }

        /// The text with quotes, backslashes and bytes that are not printable ASCII as `\xHH`, so that nobody can forge
        /// a line.
        private static func escaped(_ text: String) -> String {
            guard !text.utf8.allSatisfy(isShown) else { return text }
            return text.utf8.reduce(into: "") { escaped, byte in
                let hexadecimal = String(byte, radix: 16, uppercase: true)
                escaped += isShown(byte) ? String(Unicode.Scalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + hexadecimal
            }
        }

        private static func isShown(_ byte: UInt8) -> Bool {
            byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        }
    }
}
