// SPDX-License-Identifier: MIT
import Glibc

/// A folder that only this user can read and that exists while a command runs.
struct TemporaryFolder: Sendable {
    let path: String

    /// Creates it in $TMPDIR, or in /tmp if that is not set or too long for a socket's path.
    init() throws(Failure) {
        let given = Terminal.environment("TMPDIR") ?? ""
        let parent = given.isEmpty || given.utf8.count > 60 ? "/tmp" : given
        var template = Array((parent + "/clusterctl-serve-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(message: "cannot make a folder in \(parent): \(String(cString: strerror(errno)))")
        }
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    /// Removes the folder and the files in it.
    func remove() {
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { unlink("\(path)/\(name)") }
        }
        closedir(folder)
        rmdir(path)
    }
}
