// SPDX-License-Identifier: MIT
import Testing

@testable import ClusterServer

@Suite struct ConfigurationTests {
    private func problem(_ text: String) -> String? {
        var configuration = Configuration()
        do throws(Configuration.Problem) { try configuration.read(Array(text.utf8)) } catch {
            #expect(configuration == Configuration())
            return error.description
        }
        return nil
    }

    @Test func aFileSetsWhatItNames() throws {
        var configuration = Configuration()
        try configuration.read(
            Array(
                #"{"socket":"/s","stateDirectory":"/d","importDirectories":["/a","/b"],"logLevel":"debug","limits":{"maxCalls":5,"shutdownGraceMs":0}}"#
                    .utf8))
        #expect(configuration.socket == "/s")
        #expect(configuration.stateDirectory == "/d")
        #expect(configuration.importDirectories == ["/a", "/b"])
        #expect(configuration.logLevel == .debug)
        #expect(configuration.limits.maxCalls == 5)
        #expect(configuration.limits.shutdownGraceMs == 0)
        #expect(configuration.limits.maxConnections == Limits().maxConnections)
    }

    @Test(arguments: [
        (#"{"sokcet":"/s"}"#, "sokcet"), (#"{"socket":1}"#, "socket"), (#"{"socket":""}"#, "socket"),
        (#"{"importDirectories":["/a",2]}"#, "importDirectories[1]"), (#"{"logLevel":"loud"}"#, "logLevel"),
        (#"{"limits":{"maxCalls":0}}"#, "limits.maxCalls"),
        (#"{"limits":{"maxCalls":1.5}}"#, "limits.maxCalls"),
        (#"{"limits":{"more":1}}"#, "limits.more"), (#"{"socket":"/s","limits":[]}"#, "limits"),
        ("[]", "object"),
    ])
    func whatIsWrongIsNamed(_ text: String, _ name: String) {
        #expect(problem(text)?.contains(name) == true)
    }

    @Test func aSlipOfThePenIsFoundByLineAndColumn() {
        #expect(problem("{\n  \"socket\": \"/s\",\n  \"logLevel\": }")?.contains("line 3") == true)
    }

    @Test func everyLimitThatIsToldCanBeSet() throws {
        for (name, _) in Limits().json.members {
            var configuration = Configuration()
            try configuration.read(Array(#"{"limits":{"\#(name)":77}}"#.utf8))
            #expect(configuration.limits.json[name] == .number(77))
        }
    }
}
