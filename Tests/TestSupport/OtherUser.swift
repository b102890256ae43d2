// SPDX-License-Identifier: MIT
import Foundation
import JSON

/// Calls a daemon as another user, for which the tests have to run as root.
public enum OtherUser {
    /// Whether this process may become another user.
    public static var isPossible: Bool { geteuid() == 0 }

    /// Whether any user may run the programs built here: not if they, or Swift's libraries, are in
    /// somebody's own folder.
    public static var mayRunPrograms: Bool {
        let libraries = ProcessMaps.lines().compactMap { line in
            line.firstIndex(of: "/").map { String(line[$0...]) }
        }
        let needed = [DaemonProcess.products.path] + libraries.filter { $0.contains("/libswift") }
        return Set(needed.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }).allSatisfy(isOpen)
    }

    /// Whether everybody may pass through a folder and all above it.
    private static func isOpen(_ folder: String) -> Bool {
        var place = URL(fileURLWithPath: folder).resolvingSymlinksInPath()
        while place.path != "/" {
            var status = stat()
            guard stat(place.path, &status) == 0, status.st_mode & 0o001 != 0 else { return false }
            place.deleteLastPathComponent()
        }
        return true
    }

    /// Runs a script of the example client as a user; what it prints, parsed.
    ///
    /// - Parameters:
    ///   - script: Python; `connect()` gives a client, `attempt(client, method, **params)` the call's result or
    ///     `{"error":status,"message":…}`.
    ///   - asRoot: what goes before that with root's rights.
    public static func run(
        _ script: String, socket: String, user: Int = 4242, group: Int = 4242, groups: [Int] = [], asRoot: String = ""
    ) throws -> JSONValue {
        let examples = Repository.root.appendingPathComponent("Examples").path
        let program = """
            import sys, os, json, select
            sys.dont_write_bytecode = True
            sys.path.insert(0, \(JSONValue.string(examples).text))
            from clusterd_client import Client, ClusterdError
            import encodings.idna
            \(asRoot)
            os.setgroups(\(groups)); os.setgid(\(group)); os.setuid(\(user))
            def connect(): return Client(\(JSONValue.string(socket).text))
            def attempt(client, method, items=None, **params):
                try: return client.call(method, items=items, **params)
                except ClusterdError as e: return {"error": e.status, "message": str(e), "details": e.details}
            def show(value): print(json.dumps(value))
            \(script)
            """
        let result = try DaemonProcess.run("/usr/bin/env", ["python3", "-c", program])
        guard result.status == 0 else { throw DaemonProcess.Failure(description: result.errors) }
        return try JSONReader.parse(result.output)
    }
}
