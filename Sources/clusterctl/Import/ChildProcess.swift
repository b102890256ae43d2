// SPDX-License-Identifier: MIT
import Glibc

/// A child process whose standard output is read.
///
/// Invariant: `output` is open until `deinit`, and `errors` is an unnamed file. One task at a time holds
/// and uses the object, so it may be sent.
final class ChildProcess: @unchecked Sendable {
    /// The read end of the pipe of its standard output.
    let output: Int32
    private let errors: Int32
    private let identifier: pid_t
    private var status: Int32?

    /// Starts a program; nil if the system refuses.
    ///
    /// - Parameter input: its standard input; nil for none.
    init?(_ path: String, _ arguments: [String], input: [UInt8]? = nil) {
        var ends: [Int32] = [-1, -1]
        guard let errors = Self.unnamedFile() else { return nil }
        guard pipe(&ends) == 0 else {
            close(errors)
            return nil
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let given = input.map { Self.unnamedFile($0) ?? -1 }
        defer { if let given, given >= 0 { close(given) } }
        guard given != -1,
            let identifier = try? Program.start(path, arguments, input: given, output: ends[1], errors: errors)
        else {
            for descriptor in ends + [errors] { close(descriptor) }
            return nil
        }
        close(ends[1])
        (self.errors, self.identifier, output) = (errors, identifier, ends[0])
    }

    /// An open file without a name, at its start; nil if the system refuses.
    private static func unnamedFile(_ content: [UInt8] = []) -> Int32? {
        var name = Array("/tmp/clusterctl-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else { return nil }
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        guard unlink(name) == 0, pwrite(file, content, content.count, 0) == content.count else {
            close(file)
            return nil
        }
        return file
    }

    deinit {
        close(output)
        // Nobody reads the program's output any more, so it is ended.
        if status == nil { kill(identifier, SIGTERM) }
        _ = wait()
        close(errors)
    }

    /// Waits for the program's end and returns its exit status, or 128 and the signal's number.
    func wait() -> Int32 {
        if let status { return status }
        var raw: Int32 = 0
        while waitpid(identifier, &raw, 0) < 0, errno == EINTR {}
        let signal = raw & 0x7f
        let status = signal == 0 ? raw >> 8 & 0xff : 128 + signal
        self.status = status
        return status
    }

    /// The last lines of its standard error, without the list of formats that GDAL appends to an error.
    func lastErrors(_ count: Int = 3) -> String {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let length = pread(errors, &bytes, bytes.count, 0)
        let lines = String(decoding: bytes.prefix(max(0, length)), as: UTF8.self).split(separator: "\n")
            .filter { !$0.hasPrefix("  -> ") && $0 != "FAILURE:" }
        return lines.suffix(count).joined(separator: "; ")
    }

    /// All of its standard output, up to `limit` bytes.
    func readAll(limit: Int = 1 << 20) -> String {
        var (text, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
        while text.count < limit {
            let count = read(output, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            text += buffer[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
