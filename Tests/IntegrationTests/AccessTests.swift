// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@Suite("Who may do what", .enabled(if: OtherUser.isPossible, "only root can call as another user"))
struct AccessTests {
    private func daemon(_ configuration: String = "{}", _ arguments: [String] = []) throws -> DaemonProcess {
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString).json"
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: path))
        defer { unlink(path) }
        return try DaemonProcess(["--config", path] + arguments)
    }

    @Test("others may query and no more")
    func others() throws {
        let daemon = try daemon()
        _ = try daemon.client().call("SourceService/CreateSource", ["source": "a"])
        let answers = try OtherUser.run(
            """
            c = connect()
            show([attempt(c, "SourceService/GetSource", source="a"), attempt(c, "ServerService/Check"),
                attempt(c, "SourceService/CreateSource", source="b"),
                attempt(c, "SourceService/DeleteSource", source="a"),
                attempt(c, "SourceService/ImportFeatures", items=[{"features": []}], source="a"),
                attempt(c, "SourceService/LoadFile", source="a", path="/etc/passwd"),
                attempt(c, "SourceService/GetSource", source="a")])
            """, socket: daemon.socketPath)
        let list = try #require(answers.array)
        #expect(list[0]["source"] == "a" && list[1]["status"] == "SERVING" && list[6]["source"] == "a")
        for denied in list[2...5] {
            #expect(denied["error"] == "PERMISSION_DENIED")
            #expect(denied["message"]?.string?.contains("the right \"manage\"") == true)
            #expect(denied["details"]?["right"] == "manage")
        }
        #expect(try daemon.client().call("SourceService/ListSources")["sources"]?.array?.count == 1)
    }
}
