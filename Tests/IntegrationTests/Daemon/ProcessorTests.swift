// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@Suite("Threads by the processors that the daemon may use")
struct ProcessorTests {
    @Test(
        "a daemon that may use one processor has one thread for builds and one loop, unless it is configured")
    func oneProcessor() throws {
        let daemon = try DaemonProcess(processors: "0")
        let limits = try limits(of: daemon)
        #expect(limits["buildThreads"] == 1)
        #expect(limits["loopThreads"] == 1)
        let all = try self.limits(of: DaemonProcess())
        #expect(all["buildThreads"] == all["loopThreads"])
        if sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 {
            let two = try self.limits(of: DaemonProcess(processors: "0,1"))
            #expect(two["buildThreads"] == 2)
            #expect(two["loopThreads"] == 2)
        }
    }

    private func limits(of daemon: DaemonProcess) throws -> [String: JSONValue] {
        let info = try daemon.client().call("ServerService/GetServerInfo")
        guard case .object(let result) = info, case .object(let limits)? = result["limits"] else {
            return [:]
        }
        return Dictionary(uniqueKeysWithValues: limits.members.map { ($0.0, $0.1) })
    }
}
