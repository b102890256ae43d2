// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import Feeds

/// What messages become.
@Suite("Mapping") struct MappingTests {
    private func settings(_ flags: (String, String)...) throws -> FeedSettings {
        var settings = FeedSettings()
        for (name, text) in flags { try settings.set(flag: name, to: text) }
        return settings
    }

    private func map(_ body: String, key: String? = "k", _ settings: FeedSettings = FeedSettings()) throws -> String {
        let message = BrokerMessage(position: "7", key: key, body: Array(body.utf8))
        return String(decoding: try settings.mapping.map(message).item(position: "7"), as: UTF8.self)
    }

    private func reason(
        _ body: String, key: String? = "k", _ settings: FeedSettings = FeedSettings()
    ) -> RejectReason? {
        do throws(RejectReason) {
            _ = try settings.mapping.map(BrokerMessage(position: "7", key: key, body: Array(body.utf8)))
            return nil
        } catch { return error }
    }

    private static let feature =
        #"{"type":"Feature","id":12345678901234567890,"geometry":null,"properties":{"a":1.10}}"#

    @Test("a feature is taken as it is, its id else the key") func features() throws {
        #expect(
            try map(" \(Self.feature) ")
                == #"{"position":"7","upsert":[ \#(Self.feature) ]}"#.replacing("[ ", with: "[").replacing(
                    " ]", with: " ]"))
        let anonymous = #"{"type":"Feature","geometry":null,"properties":{}}"#
        #expect(try map(anonymous).hasSuffix(#""properties":{},"id":"k"}]}"#))
        #expect(try map("[\(Self.feature),\(anonymous)]").contains(Self.feature + ","))
        #expect(reason(anonymous, key: nil) == .noKey)
        #expect(reason("[\(Self.feature),1]") == .badArray)
        #expect(try map("[]") == #"{"position":"7"}"#)
    }

    @Test("an object is mapped by expressions") func objects() throws {
        let flags = try settings(
            ("longitude", #"["get","o"]"#), ("latitude", #"["/",["get","a"],10]"#), ("id", #"["get","n"]"#),
            ("properties", #"{"speed":["get","v"]}"#), ("delete", #"["==",["get","gone"],true]"#))
        #expect(
            try map(#"{"o":1.5,"a":20,"n":7,"v":"fast"}"#, flags)
                == #"{"position":"7","upsert":[{"type":"Feature","id":7,"geometry":{"type":"Point","coordinates":[1.5,2]},"properties":{"speed":"fast"}}]}"#
        )
        #expect(try map(#"{"n":"x","gone":true}"#, flags) == #"{"position":"7","remove":["x"]}"#)
        #expect(reason(#"{"o":"1","a":20,"n":7}"#, flags) == .expressionFailed)
        #expect(reason(#"{"o":1,"a":20}"#, flags) == .noKey)
        #expect(reason(#"{"o":1,"a":20,"n":[1]}"#, flags) == .badIdentifier)
    }

    @Test("without expressions the usual members are the position, and all are properties") func standard() throws {
        let text = #"{"lat":1,"lon":2.25,"s":1.10}"#
        #expect(
            try map(text)
                == #"{"position":"7","upsert":[{"type":"Feature","id":"k","geometry":{"type":"Point","coordinates":[2.25,1]},"properties":\#(text)}]}"#
        )
        #expect(reason(#"{"lat":1}"#) == .noPosition)
        #expect(reason("7") == .notAnObject)
        #expect(reason("{") == .badJSON)
    }

    @Test("an empty message removes the feature of its key") func empty() throws {
        #expect(try map("", key: "a\"b") == #"{"position":"7","remove":["a\"b"]}"#)
        #expect(try map(" \n") == #"{"position":"7","remove":["k"]}"#)
        #expect(reason("", key: nil) == .noKey)
    }

    @Test("flags and members of the configuration are the same; unknown and wrong ones are named") func reading() throws
    {
        var configured = FeedSettings()
        try configured.read(
            configuration: Array(
                #"{"url":"-","source":"s","longitude":["get","o"],"latitude":"[\"get\",\"a\"]","check":true}"#.utf8))
        #expect(configured.url == "-")
        #expect(configured.source == "s")
        #expect(configured.checks)
        #expect(try map(#"{"o":3,"a":4}"#, configured).contains("[3,4]"))
        func problem(_ text: String) -> String? {
            var settings = FeedSettings()
            do throws(FeedSettings.Problem) {
                try settings.read(configuration: Array(text.utf8))
                return nil
            } catch { return error.message }
        }
        #expect(problem(#"{"sources":"s"}"#) == "sources is unknown")
        #expect(problem(#"{"longitude":["got"]}"#)?.hasPrefix("longitude is no expression") == true)
        #expect(problem("[]") != nil)
        #expect(throws: FeedSettings.Problem.self) { try settings(("delete", #"["get","#)) }
        #expect(throws: FeedSettings.Problem.self) { try settings(("delete", #"["to-number",1]"#)) }
    }

    @Test("addresses of brokers") func addresses() throws {
        let nats = try #require(BrokerAddress("nats://u:p%40@h:1/ST%20REAM?subject=a.*.%3E"))
        #expect((nats.user, nats.password, nats.host, nats.port) == ("u", "p@", "h", 1))
        #expect((nats.path, nats.query["subject"]) == ("ST REAM", "a.*.>"))
        let mqtt = try #require(BrokerAddress("mqtt://[::1]/fleet/+/pos/#"))
        #expect((mqtt.endpoint, mqtt.path) == ("[::1]:1883", "fleet/+/pos/#"))
        for text in [
            "kafka://h:9092", "kafka://h:9092/", "http://h/x", "nats://:1/x", "nats://h:0/x", "nats://h:x/y", "",
        ] {
            #expect(BrokerAddress(text) == nil, "\(text)")
        }
    }

    @Test("positions of Kafka") func offsets() {
        #expect(KafkaTopic.offsets("1:5,0:7") == [0: 7, 1: 5])
        #expect(KafkaTopic.position([1: 5, 0: 7, 10: 0]) == "0:7,1:5,10:0")
        for text in ["", "1", "1:", "a:1", "1:-1", "1:2:3", "1:2,"] {
            #expect(KafkaTopic.offsets(text) == nil, "\(text)")
        }
    }

    @Test(
        "subjects of NATS",
        arguments: [
            ("a.b", "a.*", true), ("a.b.c", "a.*", false), ("a.b.c", "a.>", true), ("a", "a.>", false),
            ("a", ">", true),
            ("a.b", "a.c", false), ("a.*", "a.*", true), ("a.>", "a.*", false), ("a.>", "a.>", true),
            ("a.*", "a.b", false),
        ])
    func subjects(_ subject: String, _ pattern: String, _ isMatch: Bool) {
        #expect(NATSStream.matches(subject, pattern) == isMatch)
    }

    @Test("messages wait until they are confirmed, and are sent again after the position") func unapplied() {
        let messages = UnappliedMessages()
        for number in 1...5 {
            _ = messages.append(
                BrokerMessage(position: "\(number)", key: nil, body: [1]), MappedMessage(upserts: [[1], [2]]))
        }
        #expect(messages.begin(after: nil, hasPositions: true)?.count == 5)
        messages.confirm("2")
        #expect(messages.begin(after: "2", hasPositions: true)?.map(\.message.position) == ["3", "4", "5"])
        #expect(messages.begin(after: "4", hasPositions: true)?.map(\.message.position) == ["5"])
        #expect(messages.reject(item: 0, feature: 1)?.position == "5")
        #expect(messages.begin(after: "4", hasPositions: true)?.first?.changes.upserts == [[1]])
        #expect(messages.begin(after: "1", hasPositions: true) == nil)
        messages.confirm("5")
        #expect(messages.isEmpty)
    }

    @Test("the pause doubles up to half a minute") func backoff() {
        var backoff = Backoff()
        var pauses: [Duration] = []
        for _ in 0..<12 { pauses.append(backoff.next()) }
        #expect(pauses[0] <= .milliseconds(100))
        #expect(pauses[0] >= .milliseconds(75))
        #expect(pauses[11] <= .seconds(30))
        #expect(pauses[11] >= .milliseconds(22_500))
        backoff.reset()
        #expect(backoff.next() <= .milliseconds(100))
    }
}
