// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources
import SystemSupport
import GeoJSON
import JSON

/// The sources as calls name them: the params that many methods share.
package struct SourceCatalog: Sendable {
    let registry: SourceRegistry
    let settings: LiveSettings

    package init(registry: SourceRegistry, settings: LiveSettings) {
        self.registry = registry
        self.settings = settings
    }

    func name(_ params: Params) throws(RPCError) -> SourceName {
        guard let name = SourceName(try params.string("source")) else {
            throw .invalidParam(params.path(of: "source"), "must be a name: \(SourceName.pattern).")
        }
        return name
    }

    func source(_ params: Params) throws(RPCError) -> Source {
        let name = try name(params)
        return try answering { () throws(SourceError) in try registry.source(name) }
    }

    /// The source of a call that changes it, where the caller may.
    func sourceToChange(_ params: Params, _ call: CallContext) throws(RPCError) -> Source {
        let source = try source(params)
        try checkChange(of: source.name, call)
        return source
    }

    /// Refuses those who are no administrators to change what the configuration declares.
    func checkChange(of name: SourceName, _ call: CallContext) throws(RPCError) {
        guard call.right < .admin, settings.values.declaredSources.contains(name) else { return }
        throw RPCError(
            .permissionDenied,
            "The source '\(name)' is declared in the daemon's configuration: changing it needs the right \"admin\", which your user does not have.",
            details: ["right": .string(AccessRight.admin.name)])
    }

    /// The data of now, where they are those that the caller asks for.
    func revision(_ params: Params) throws(RPCError) -> Revision {
        try revision(params, of: try source(params))
    }

    /// The same of a source that is known already.
    func revision(_ params: Params, of source: Source) throws(RPCError) -> Revision {
        let asked = try params.optionalInteger("revision", in: 0...(1 << 53))
        try answering { () throws(SourceError) in try source.checkIntact() }
        let revision = source.revision
        try answering { () throws(SourceError) in try revision.check(asked: asked.map { UInt64($0) }) }
        return revision
    }

    /// A handler of a call that reads a source's features, whose answer is thrown away where their text turned
    /// out to be damaged while it was made.
    func checkingText(_ handler: SimpleHandler) -> SimpleHandler {
        handler.followed { (params) throws(RPCError) in
            let source = try source(params)
            try answering { () throws(SourceError) in try source.checkIntact() }
        }
    }

    func filter(_ params: Params) -> QueryFilter? {
        params["filter"].map { QueryFilter($0) }
    }

    func output(_ params: Params) throws(RPCError) -> FeatureOutput {
        var output = FeatureOutput()
        output.properties = try params.optionalStrings("properties").map { PropertySelection($0) }
        output.precision = try params.optionalInteger("precision", in: 0...15).map { Int($0) }
        for (place, name) in (try params.optionalStrings("include") ?? []).enumerated() {
            guard let detail = ClusterDetails.byName.first(where: { $0.name == name })?.detail else {
                let names = ClusterDetails.byName.map(\.name).joined(separator: ", ")
                throw .invalidParam("\(params.path(of: "include"))[\(place)]", "must be one of \(names).")
            }
            output.include.insert(detail)
        }
        return output
    }
}

extension Box {
    /// The box that params name, as `bbox`.
    init(_ params: Params) throws(RPCError) {
        let values = try params.array("bbox")
        guard values.count == 4 else {
            throw .invalidParam(params.path(of: "bbox"), "must be [west, south, east, north] in degrees.")
        }
        func edge(_ place: Int) throws(RPCError) -> Double {
            guard case .number(let edge) = values[place], edge.isFinite else {
                throw .invalidParam("\(params.path(of: "bbox"))[\(place)]", "must be a number of degrees.")
            }
            return edge
        }
        self.init(west: try edge(0), south: try edge(1), east: try edge(2), north: try edge(3))
    }
}

/// A method answered by one function, with the params that it knows.
struct SimpleHandler: UnaryHandler {
    typealias Place = @Sendable (Params) throws(RPCError) -> Placement
    typealias Answer = @Sendable (Params, CallContext, inout ByteWriter) throws(RPCError) -> Void

    private let known: [String]
    private let place: Place
    private let answer: Answer

    init(_ known: [String], place: @escaping Place, answer: @escaping Answer) {
        self.known = known
        self.place = place
        self.answer = answer
    }

    /// The same with a check behind, which throws where the answer is not to be given.
    func followed(by check: @escaping @Sendable (Params) throws(RPCError) -> Void) -> SimpleHandler {
        let answer = answer
        return SimpleHandler(known, place: place) { (params, call, bytes) throws(RPCError) in
            try answer(params, call, &bytes)
            try check(params)
        }
    }

    func placement(_ params: Params) throws(RPCError) -> Placement {
        try params.rejectUnknown(known)
        return try place(params)
    }

    func answer(_ params: Params, _ call: CallContext, into bytes: inout ByteWriter) throws(RPCError) {
        try answer(params, call, &bytes)
    }
}
