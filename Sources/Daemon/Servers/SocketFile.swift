// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import EventLoop
import Glibc

/// Prepares the daemon's socket file before the daemon listens on it.
public enum SocketFile {
    /// Why the daemon cannot listen on a path, in words for a person.
    public struct Problem: Error, Sendable, Equatable, CustomStringConvertible { public let description: String }

    /// Chooses the path to listen on: the configured one, else the first default path whose directory exists
    /// or can be created.
    ///
    /// Without systemd, `/run/clusterd` does not exist, and an ordinary user may not create it.
    static func choose(
        _ option: String?, environment: (String) -> String? = SocketPath.variable
    ) throws(Problem) -> String {
        let usual = SocketPath.candidates(option: option, environment: environment)
        guard usual.count > 1 || usual.first == SocketPath.system else { return usual[0] }
        let own = ["/run/user/\(geteuid())/clusterd.sock", "/tmp/clusterd-\(geteuid())/clusterd.sock"]
        for path in usual + own where canCreate(path) { return path }
        throw Problem(
            description: "cannot create a socket in \(usual.joined(separator: " or ")). Choose a path with --socket.")
    }

    /// Whether this user can write in a socket's directory; creates it if its parent permits that.
    private static func canCreate(_ path: String) -> Bool {
        let directory = Configuration.directory(of: path)
        _ = mkdir(directory, directory.hasPrefix("/tmp/") ? 0o700 : 0o755)
        var status = stat()
        guard lstat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return false }
        // Below /tmp, anybody may have created it.
        if directory.hasPrefix("/tmp/"), status.st_uid != geteuid() { return false }
        return access(directory, W_OK | X_OK) == 0
    }

    /// Removes a socket file on which no process listens any more.
    ///
    /// Throws if a process still listens, naming it, or if the path is not a socket.
    public static func clear(_ path: String) throws(Problem) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw Problem(description: "cannot examine \(path): \(message(errno))")
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw Problem(description: "\(path) exists and is not a socket. Move it, or choose another --socket.")
        }
        switch try owner(of: path) {
        case .nobody:
            if unlink(path) != 0, errno != ENOENT {
                throw Problem(description: "cannot remove the stale socket \(path): \(message(errno))")
            }
        case .process(let pid):
            throw Problem(
                description: "\(path) is in use by process \(pid)\(name(of: pid)). Stop it, or choose another --socket."
            )
        }
    }

    private enum Owner {
        case nobody
        case process(Int32)
    }

    private static func owner(of path: String) throws(Problem) -> Owner {
        guard let address = UnixSocketAddress(path: path) else {
            throw Problem(description: "the socket's path is longer than 107 bytes: \(path)")
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Problem(description: "cannot make a socket: \(message(errno))") }
        defer { close(descriptor) }
        if address.connect(descriptor) != 0 {
            if errno == ECONNREFUSED || errno == ENOENT { return .nobody }
            throw Problem(description: "cannot find out whether \(path) is in use: \(message(errno))")
        }
        var credentials: (Int32, UInt32, UInt32) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        _ = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
        return .process(credentials.0)
    }

    /// A process's name in brackets, if it is known.
    private static func name(of pid: Int32) -> String {
        guard let file = fopen("/proc/\(pid)/comm", "r") else { return "" }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 64)
        guard fgets(&line, Int32(line.count), file) != nil else { return "" }
        let name = line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
        return " (\(String(decoding: name, as: UTF8.self)))"
    }

    private static func message(_ number: Int32) -> String { String(cString: strerror(number)) }
}
