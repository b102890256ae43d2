// SPDX-License-Identifier: MIT
import Glibc
import JSON

/// The processor time and memory of the daemon at the other end of a socket (proc(5)).
struct DaemonUsage {
    private let process: Int32
    private let start: Double

    init(descriptor: Int32) {
        // `struct ucred` needs _GNU_SOURCE, which Glibc's module does not define. It is three integers: pid, uid, gid.
        var credentials: (Int32, UInt32, UInt32) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
        process = credentials.0
        start = Self.processorSeconds(of: process)
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
