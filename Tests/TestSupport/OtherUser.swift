// SPDX-License-Identifier: MIT
import Foundation
import JSON

/// Calls a daemon as another user, for which the tests have to run as root.
public enum OtherUser {
    /// Whether this process may become another user.
    public static var isPossible: Bool { geteuid() == 0 }

    /// Runs a script of the example client as a user; what it prints, parsed.
    ///
    /// - Parameters:
    ///   - script: Python; `connect()` gives a client, `attempt(client, method, **params)` the call's result or
    ///     `{"error":status,"message":…}`.
    ///   - asRoot: what goes before that with root's rights.
    public static func run(
        _ script: String, socket: String, user: Int = 4242, group: Int = 4242, groups: [Int] = [],
        asRoot: String = ""
    ) throws -> JSONValue {
        let examples = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Examples").path
        let program = """
            import sys, os, json
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
