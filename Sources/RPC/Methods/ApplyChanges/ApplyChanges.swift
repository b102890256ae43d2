// SPDX-License-Identifier: MIT
import ClusterProtocol
import GeoJSON
import JSON
import SourceEngine

/// `ApplyChanges`: applies the items of a log, each with its position, exactly once.
struct ApplyChanges: ServerStreamMethod {
    let declaration = MethodDeclaration.applyChanges
    let catalog: SourceCatalog

    /// The most characters of a log's name.
    private static let longestName = 64

    func begin(_ params: Params, _ call: CallContext, _ output: StreamOutput) throws(RPCError) -> any ServerStream {
        let source = try catalog.sourceToChange(params, call, insteadOf: .features)
        let log = try params.string(.log)
        guard (1...Self.longestName).contains(log.unicodeScalars.count) else {
            throw params.invalid(.log, "must have 1 to \(Self.longestName) characters.")
        }
        return ChangeStream(source, log: log, try params.word(.onInvalid), call, output)
    }
}

/// An item of the client, as it is read on the pool.
struct ChangeItem: Sendable {
    let text: [UInt8]
    let received: ContinuousClock.Instant

    /// The most bytes of a position.
    private static let longestPosition = 1024

    /// - Parameter path: names the item in errors. It is known to be a JSON object since its message was read.
    func read(_ path: String) throws(RPCError) -> LogItem {
        let members = JSONText.members(ofValidated: text[...]) ?? [:]
        let names = MethodDeclaration.applyChanges.items.map(\.name)
        for name in members.keys.map({ String(decoding: $0, as: UTF8.self) }) where !names.contains(name) {
            throw .invalidParam("\(path).\(name)", "is unknown.")
        }
        func member(_ param: ParamDeclaration) -> [UInt8]? { members[Array(param.name.utf8)] }
        guard let position = member(.position) else { throw .invalidParam("\(path).position", "is missing.") }
        guard case .string(let position)? = try? JSONReader.parse(position),
            (1...Self.longestPosition).contains(position.utf8.count)
        else { throw .invalidParam("\(path).position", "must be a string of 1 to \(Self.longestPosition) bytes.") }
        let upserts = member(.upsert) ?? Self.emptyList
        guard upserts.first == UInt8(ascii: "[") else {
            throw .invalidParam("\(path).upsert", "must be an array of GeoJSON features.")
        }
        let removals = member(.remove) ?? Self.emptyList
        guard removals.first == UInt8(ascii: "["), let removals = FeatureIdentifier.list(json: removals) else {
            throw .invalidParam("\(path).remove", "must be an array of ids, each a number or a string.")
        }
        return LogItem(position: position, upserts: upserts, removals: removals)
    }

    private static let emptyList = Array("[]".utf8)
}

/// The next answer to the client: how far its log was applied, and what that changed since the last answer.
struct ChangeAnswer: Sendable {
    let position: String?
    let revision: UInt64
    /// Nil in the first answer of a stream.
    let counts: LogCounts?

    /// An answer in place of one that was not sent and this one.
    func following(_ earlier: ChangeAnswer?) -> ChangeAnswer {
        guard let earlier = earlier?.counts, var sum = counts else { return self }
        sum += earlier
        return ChangeAnswer(position: position, revision: revision, counts: sum)
    }

    func write(into bytes: inout ByteWriter) {
        bytes.append("{\"position\":")
        if let position { bytes.append(json: position) } else { bytes.append("null") }
        bytes.append(",\"revision\":")
        bytes.append(integer: Int64(clamping: revision))
        if let counts {
            bytes.append(",\"inserted\":")
            bytes.append(integer: Int64(counts.inserted))
            bytes.append(",\"updated\":")
            bytes.append(integer: Int64(counts.updated))
            bytes.append(",\"removed\":")
            bytes.append(integer: Int64(counts.removed))
            bytes.append(",\"missing\":")
            bytes.append(integer: Int64(counts.missing))
            bytes.append(",\"skipped\":")
            bytes.append(integer: Int64(counts.skipped))
        }
        bytes.append("}")
    }
}
