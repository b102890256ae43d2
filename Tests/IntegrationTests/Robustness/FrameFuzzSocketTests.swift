// SPDX-License-Identifier: MIT
import JSON
import TestSupport
import Testing

/// Random streams with bytes changed, over the daemon's socket: it goes on, and so does every stream that
/// can still be followed.
@Suite("Random streams over the socket")
struct FrameFuzzSocketTests {
    @Test("end with answers, or with an error and the end of the connection")
    func streams() throws {
        let daemon = try DaemonProcess(limits: ["maxMessageBytes": FuzzedFrame.limit])
        let bystander = try daemon.client()
        _ = try bystander.call("ServerService/Check")
        // Each loop keeps a descriptor in reserve from its first connection on.
        for client in try (0..<4).map({ _ in try daemon.client() }) {
            _ = try client.call("ServerService/Check")
        }
        let before = daemon.openDescriptors
        var (broken, followed) = (0, 0)
        for seed in 0..<UInt64(150) {
            var random = SeededRandom(seed: seed)
            var bytes: [UInt8] = []
            for _ in 0..<20 { bytes += FuzzedFrame(&random, fatal: true).bytes }
            if random.once(in: 2) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            let client = try daemon.client()
            do { try client.send(bytes) } catch {}
            client.finishSending()
            var last: JSONObject = [:]
            while let message = try? client.receive() {
                #expect(message["id"] != nil)
                last = message
            }
            let isFollowed = last["id"] != .null
            (broken, followed) = (broken + (isFollowed ? 0 : 1), followed + (isFollowed ? 1 : 0))
            #expect(try bystander.call("ServerService/Check") == ["status": "SERVING"])
        }
        #expect(broken > 10)
        #expect(followed > 10)
        var looks = 0
        while daemon.openDescriptors > before, looks < 1000 {
            _ = try bystander.call("ServerService/Check")
            looks += 1
        }
        #expect(daemon.openDescriptors <= before)
        let calls = try bystander.call("ServerService/GetStats")["calls"]
        #expect(calls?["protocolErrors"]?.number ?? 0 > 100)
    }
}
