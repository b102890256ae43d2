// SPDX-License-Identifier: MIT
import Expressions
import JSON

/// What a feed reads and where it applies it: what flags and the configuration's members say.
package struct FeedSettings: Sendable {
    package var url = ""
    package var source = ""
    package var socket: String?
    package var log: String?
    package var client: String?
    package var mapping = MessageMapping()
    package var rejects: String?
    package var metrics: String?
    package var resetsToEarliest = false
    package var checks = false

    package init() {}

    /// An invalid flag or member.
    package struct Problem: Error, Sendable {
        package let message: String

        package init(message: String) { self.message = message }
    }

    /// One flag, which is also a member of the configuration.
    package struct Member: Sendable {
        package enum Kind: Sendable {
            case text
            case file
            /// JSON text.
            case expression
            /// An object of names and expressions.
            case expressions
            case word([String])
            case flag
        }

        package let name: String
        package let valueName: String?
        package let kind: Kind
        package let standard: String?
        package let help: String
        let set: @Sendable (inout FeedSettings, JSONValue) throws(Problem) -> Void
    }

    /// All flags, in the order of help. The URL is an operand, and a member of the configuration.
    package static let members: [Member] = [
        text("source", "NAME", "the source that the messages change", \.source),
        optional("socket", "PATH", .file, "the daemon's socket", \.socket),
        optional(
            "log", "NAME", .text, "the log's name for the source", \.log, default: "the stream, the topic or stdin"),
        expression(
            "longitude", .number, "a message's longitude, as an expression", \.longitude,
            default: "longitude, lon, lng, long or x"),
        expression(
            "latitude", .number, "a message's latitude, as an expression", \.latitude, default: "latitude, lat or y"),
        expression(
            "id", nil, "a feature's id, as an expression", \.identifier,
            default: "the message's key, or its subject's last part"),
        Member(
            name: "properties", valueName: "JSON", kind: .expressions, standard: "all members",
            help: "a feature's properties, as an object of names and expressions"
        ) { (settings, value) throws(Problem) in
            guard case .object(let object) = value else {
                throw Problem(message: "must be an object of names and expressions")
            }
            var properties: [(name: String, value: Expression)] = []
            for (name, value) in object.members { properties.append((name, try compiled(value, nil))) }
            settings.mapping.properties = properties
        },
        expression(
            "delete", .boolean, "whether a message removes its feature, as an expression", \.isDeletion,
            default: "only if it is empty"),
        optional("rejects", "FILE", .file, "append messages that were left out to FILE", \.rejects),
        optional(
            "metrics", "ADDRESS", .text, "serve metrics at http://ADDRESS/metrics, such as 127.0.0.1:9100", \.metrics),
        optional("client-id", "ID", .text, "the id of the MQTT session", \.client, default: "clusterd-feed-SOURCE"),
        Member(
            name: "reset", valueName: "WHERE", kind: .word(["earliest"]), standard: "stop",
            help: "where to continue if the broker no longer has the source's position"
        ) { (settings, value) throws(Problem) in
            guard value == .string("earliest") else { throw Problem(message: "must be earliest") }
            settings.resetsToEarliest = true
        },
        Member(
            name: "check", valueName: nil, kind: .flag, standard: nil,
            help: "connect to both ends, show how a few messages map, and change nothing"
        ) { (settings, value) throws(Problem) in
            guard case .bool(let flag) = value else { throw Problem(message: "must be true or false") }
            settings.checks = flag
        },
    ]

    private static let url = text("url", "URL", "", \.url)

    private static func text(
        _ name: String, _ valueName: String, _ help: String, _ path: WritableKeyPath<FeedSettings, String> & Sendable
    ) -> Member {
        Member(name: name, valueName: valueName, kind: .text, standard: nil, help: help) {
            (settings, value) throws(Problem) in
            guard case .string(let text) = value, !text.isEmpty else {
                throw Problem(message: "must be a text that is not empty")
            }
            settings[keyPath: path] = text
        }
    }

    private static func optional(
        _ name: String, _ valueName: String, _ kind: Member.Kind, _ help: String,
        _ path: WritableKeyPath<FeedSettings, String?> & Sendable, default standard: String? = nil
    ) -> Member {
        Member(name: name, valueName: valueName, kind: kind, standard: standard, help: help) {
            (settings, value) throws(Problem) in
            guard case .string(let text) = value, !text.isEmpty else {
                throw Problem(message: "must be a text that is not empty")
            }
            settings[keyPath: path] = text
        }
    }

    private static func expression(
        _ name: String, _ type: ExpressionType?, _ help: String,
        _ path: WritableKeyPath<MessageMapping, Expression?> & Sendable, default standard: String
    ) -> Member {
        Member(name: name, valueName: "JSON", kind: .expression, standard: standard, help: help) {
            (settings, value) throws(Problem) in
            settings.mapping[keyPath: path] = try compiled(value, type)
        }
    }

    private static func compiled(_ value: JSONValue, _ type: ExpressionType?) throws(Problem) -> Expression {
        do {
            return try Expression(compiling: value, expected: type, purpose: .evaluation)
        } catch {
            let first = error.errors.first
            throw Problem(message: "is no expression: \((first?.key ?? "") + (first.map { " \($0.message)" } ?? ""))")
        }
    }

    // MARK: Reading

    /// Sets what a flag says.
    package mutating func set(flag name: String, to text: String) throws(Problem) {
        guard let member = Self.members.first(where: { $0.name == name }) else { return }
        do throws(Problem) {
            switch member.kind {
            case .text, .file, .word: try member.set(&self, .string(text))
            case .flag: try member.set(&self, .bool(true))
            case .expression, .expressions: try member.set(&self, try Self.json(text))
            }
        } catch { throw Problem(message: "--\(name) \(error.message)") }
    }

    private static func json(_ text: String) throws(Problem) -> JSONValue {
        do throws(JSONError) { return try JSONReader.parse(Array(text.utf8)) } catch {
            throw Problem(message: "is not JSON: \(error.message)")
        }
    }

    /// Sets what a configuration says: an object whose members are named like the flags.
    package mutating func read(configuration text: [UInt8]) throws(Problem) {
        let value: JSONValue
        do throws(JSONError) { value = try JSONReader.parse(text) } catch {
            throw Problem(message: "is not JSON: \(error.message) (at byte \(error.offset))")
        }
        guard case .object(let object) = value else { throw Problem(message: "is not a JSON object") }
        for (name, value) in object.members {
            guard let member = (Self.members + [Self.url]).first(where: { $0.name == name }) else {
                throw Problem(message: "\(name) is unknown")
            }
            do throws(Problem) {
                // Expressions may be written as on the command line, too.
                if case .string(let text) = value, text.hasPrefix("[") || text.hasPrefix("{") {
                    switch member.kind {
                    case .expression, .expressions:
                        try member.set(&self, try Self.json(text))
                        continue
                    default: break
                    }
                }
                try member.set(&self, value)
            } catch { throw Problem(message: "\(name) \(error.message)") }
        }
    }

    /// The longest name of a log.
    private static let longestLog = 64

    /// Makes the broker that the URL names.
    package func broker() throws(Problem) -> any Broker {
        guard !source.isEmpty else { throw Problem(message: "--source is missing: it names the source to change") }
        guard !url.isEmpty else {
            throw Problem(message: "URL is missing: it names the broker, or - for standard input")
        }
        if let log, log.unicodeScalars.count > Self.longestLog {
            throw Problem(message: "--log must have \(Self.longestLog) characters at most")
        }
        if url == "-" { return StandardInput(log: log) }
        guard let address = BrokerAddress(url) else {
            throw Problem(
                message: "URL '\(url)' is none: nats://HOST:PORT/STREAM?subject=…, kafka://HOST:PORT/TOPIC, "
                    + "mqtt://HOST:PORT/TOPIC-FILTER or - was expected")
        }
        let log = log ?? address.path
        guard log.unicodeScalars.count <= Self.longestLog else {
            throw Problem(message: "--log is missing: '\(log)' has more than \(Self.longestLog) characters")
        }
        let known: Set<String> = address.scheme == "nats" ? ["subject"] : []
        if let unknown = address.query.keys.first(where: { !known.contains($0) }) {
            throw Problem(message: "URL has the unknown part '\(unknown)'")
        }
        switch address.scheme {
        case "nats": return NATSStream(address, log: log)
        case "kafka": return KafkaTopic(address, log: log)
        default: return MQTTTopics(address, log: log, client: client ?? "clusterd-feed-\(source)")
        }
    }
}
