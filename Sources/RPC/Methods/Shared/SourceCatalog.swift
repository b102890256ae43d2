// SPDX-License-Identifier: MIT
import ClusterProtocol
import Responses
import SourceEngine
import GeoJSON
import JSON
import ReplicationLog

/// Finds the sources that calls name, and reads the params that many methods share.
package struct SourceCatalog: Sendable {
    private let registry: SourceRegistry
    let settings: LiveSettings

    package init(registry: SourceRegistry, settings: LiveSettings) {
        self.registry = registry
        self.settings = settings
    }

    /// What a query names: a source or a view.
    func reference(_ params: Params) throws(RPCError) -> SourceReference {
        guard let name = SourceReference(try params.string(.source)) else {
            throw params.invalid(
                .source, "must be a name: \(SourceName.pattern), or SOURCE:VIEW with two such names for a view.")
        }
        return name
    }

    /// The name of a source that a call changes.
    func name(_ params: Params) throws(RPCError) -> SourceName {
        let name = try reference(params)
        guard name.view == nil else {
            throw params.invalid(
                .source,
                "names a view of the source '\(name.source)': only the source is changed, and its views with it. Views are declared in its option views."
            )
        }
        return name.source
    }

    /// The source that a query names, itself or as that of a view, if it exists for the caller.
    func source(_ params: Params) throws(RPCError) -> Source {
        if let source = params.source { return source }
        let name = try reference(params).source
        return try answering { () throws(SourceError) in try seen(name, params.access) }
    }

    private func seen(_ name: SourceName, _ access: SourceAccess?) throws(SourceError) -> Source {
        guard let access else { return try registry.source(name) }
        return try registry.source(name, ifSeen: access.sees)
    }

    /// The part of a source that the caller sees; nil if that is everything.
    func seenPart(_ params: Params, of source: Source) throws(RPCError) -> SeenPart? {
        try params.access?.seenPart(on: source.name)
    }

    /// The source that a call changes. Throws if the caller may not change it, if it follows a table or is an image.
    ///
    /// - Parameter replacesImage: whether another image may replace the source's.
    func sourceToChange(
        _ params: Params, _ call: CallContext, insteadOf advice: WriteAdvice, replacesImage: Bool = false
    ) throws(RPCError) -> Source {
        _ = try name(params)
        let source = try source(params)
        guard try seenPart(params, of: source) == nil else {
            throw RPCError(
                .permissionDenied,
                "You may not change the source '\(source.name)': a rule in access.rules restricts what you see of it.")
        }
        try answering { () throws(SourceError) in
            try source.checkWritable(advice, replacesImage: replacesImage)
        }
        try checkChange(of: source.name, call)
        return source
    }

    /// Throws if the configuration declares the source and the caller is not an administrator.
    func checkChange(of name: SourceName, _ call: CallContext) throws(RPCError) {
        guard call.right < .admin, settings.values.declaredSources.contains(name) else { return }
        throw RPCError(
            .permissionDenied,
            "The source '\(name)' is declared in the daemon's configuration: changing it needs the right \"admin\", which \(call.peer.lacking).",
            details: ["right": .string(AccessRight.admin.name)])
    }

    /// The current revision of the source or the view; throws if the caller asks for another one.
    func revision(_ params: Params, of source: Source) throws(RPCError) -> Revision {
        let name = try reference(params)
        let revision = try answering { () throws(SourceError) in try source.intactRevision().read(by: name) }
        try check(params, revision)
        return revision
    }

    private func check(_ params: Params, _ revision: Revision) throws(RPCError) {
        let asked = try params.optionalInteger(.revision)
        try answering { () throws(SourceError) in try revision.check(asked: asked.map { UInt64($0) }) }
    }

    /// Looks up the source that the params name, for the rest of the call, and returns what the call has to wait for:
    /// that the source has been read after a start, or that it reaches the position `atLeast`.
    ///
    /// What is no source's name, or the name of none, is left to the method.
    func find(_ params: inout Params, _ method: Method) throws(RPCError) -> SourceWait? {
        guard case .string(let text)? = params[.source], let name = SourceReference(text)?.source else { return nil }
        // First, since a source that is found when nothing is being read any more has all its data.
        let isLoading = registry.isLoading
        guard let source = try? seen(name, params.access) else { return nil }
        if let part = try seenPart(params, of: source), part.hidesPoints,
            !method.declaration.showsClustersOnly
        {
            throw SeenPart.denied(method.declaration.name)
        }
        guard isLoading, source.isLoading else {
            params.source = source
            return try wait(params)
        }
        return needsData(method) ? SourceWait(source: source, condition: .read) : nil
    }

    private func wait(_ params: Params) throws(RPCError) -> SourceWait? {
        guard let text = try params.optionalString(.atLeast) else { return nil }
        let source = try source(params)
        if source.replication == nil, source.followsFeeds {
            let wait = SourceWait(source: source, condition: .feed(text))
            return wait.isOver ? nil : wait
        }
        guard let position = LogPosition(text) else {
            throw params.invalid(
                .atLeast,
                "must be a position such as \"16/B374D848\", as answers contain it and as pg_current_wal_lsn() returns it."
            )
        }
        let wait = SourceWait(source: source, condition: .position(position))
        if wait.isOver { return nil }
        guard source.replication != nil else { throw RPCError(SourceError.followsNothing(source.name)) }
        return wait
    }

    /// Whether a method has to wait until its source has been opened after a start.
    private func needsData(_ method: Method) -> Bool {
        guard case .unary(let unary) = method.implementation else { return true }
        return !unary.needsNoData
    }

    /// The data that a query reads.
    func target(_ params: Params) throws(RPCError) -> QueryTarget {
        let source = try source(params)
        return QueryTarget(
            source: source, revision: try revision(params, of: source), filter: try filter(params, of: source),
            seen: try seenPart(params, of: source)?.seen)
    }

    /// The query of `GetClusters` and of similar calls.
    func clustersQuery(_ params: Params) throws(RPCError) -> ClustersQuery {
        var query = ClustersQuery(box: try params.box(.bbox), zoom: try params.number(.zoom))
        query.limit = try params.optionalInteger(.limit).map { Int($0) }
        query.output = try output(params)
        return query
    }

    /// A query's filter, of the features that its caller sees.
    func filter(_ params: Params, of source: Source) throws(RPCError) -> QueryFilter? {
        guard let part = try seenPart(params, of: source) else {
            return params[.filter].map { QueryFilter($0) }
        }
        return part.applied(to: params[.filter])
    }

    /// What a query shows of a view's points.
    func restriction(_ params: Params) throws(RPCError) -> ViewRestriction {
        var restriction = ViewRestriction()
        restriction.window = try params.window()
        restriction.pins = try params.pins()
        restriction.top = try params.optionalString(.topBy).map { Self.ranking($0) }
        return restriction
    }

    /// A property by which points are ranked, from the greatest value, or after a minus from the least.
    static func ranking(_ text: String) -> ViewRestriction.Ranking {
        guard text.hasPrefix("-") else { return ViewRestriction.Ranking(property: text, order: .descending) }
        return ViewRestriction.Ranking(property: String(text.dropFirst()), order: .ascending)
    }

    /// Which parts of each feature the answer contains.
    func output(_ params: Params) throws(RPCError) -> FeatureOutput {
        var output = FeatureOutput()
        output.properties = try params.optionalStrings(.properties).map { PropertySelection($0) }
        output.precision = try params.optionalInteger(.precision).map { Int($0) }
        for name in try params.optionalStrings(.include) ?? [] { output.include.insert(ClusterDetails[name]) }
        let restriction = try restriction(params)
        guard restriction.top != nil || !output.include.contains(.top) else {
            throw params.invalid(.topBy, "is missing: \"top\" of include needs the property to compare by.")
        }
        if !restriction.isNone { output.restriction = restriction }
        if !output.include.isDisjoint(with: .showingPoints) || !restriction.pins.isEmpty,
            try seenPart(params, of: source(params))?.hidesPoints == true
        {
            throw SeenPart.denied(restriction.pins.isEmpty ? "params.include" : "params.pin")
        }
        return output
    }

    // MARK: All sources

    /// The sources that exist for a caller, by name.
    func sources(for access: SourceAccess?) -> [Source] {
        access.map { access in registry.all.filter { access.sees($0.name) } } ?? registry.all
    }

    /// Descriptions of the sources that a caller may query, as the caller sees them. Blocks if rules apply.
    ///
    /// - Parameter withViews: whether each source is followed by its views.
    func descriptions(
        for access: SourceAccess?, withViews: Bool = false, _ call: CallContext
    ) throws(RPCError) -> [SourceDescription] {
        var descriptions: [SourceDescription] = []
        for source in sources(for: access) {
            let description = source.description
            // What a missing claim hides is not listed.
            do throws(RPCError) {
                for one in withViews ? description.withViews : [description] {
                    descriptions.append(try seen(one, of: source, access, call))
                }
            } catch  where error.code == .permissionDenied {}
        }
        return descriptions
    }

    /// The description of a source, or of a view of it, as a caller sees it. Blocks if a rule applies: only for threads of
    /// the pool.
    func seen(
        _ description: SourceDescription, of source: Source, _ access: SourceAccess?, _ call: CallContext
    ) throws(RPCError) -> SourceDescription {
        var description = description
        guard let seen = try access?.seenPart(on: source.name) else { return description }
        guard description.revision.hasData, description.damage == nil, !description.isLoading else {
            description.part = SourceDescription.Part(points: 0, bounds: nil)
            return description
        }
        description.part = try answering(call) { () throws(SourceError) in
            try source.checkIntact(description.revision)
            let part = try description.revision.part(seenBy: seen.seen, call.cancellation)
            try source.checkIntact(description.revision)
            return part
        }
        return description
    }

    // MARK: Names

    /// Adds a source without data.
    func create(_ params: Params, _ call: CallContext, _ options: SourceOptions) throws(RPCError) -> Source {
        let name = try name(params)
        // Before it is known whether the source exists, which the caller may not know.
        guard call.right == .admin || params.access?.isCovered(name) != true else {
            throw RPCError(
                .permissionDenied,
                "Only administrators make the source '\(name)', because a rule in access.rules covers its name.",
                details: ["right": .string(AccessRight.admin.name)])
        }
        try checkChange(of: name, call)
        let owner: UInt32? = call.right == .admin ? nil : call.peer.userID
        return try answering { () throws(SourceError) in try registry.create(name, options: options, owner: owner) }
    }

    func delete(_ name: SourceName) throws(SourceError) { try registry.delete(name) }

    /// Whether making a source waits for a disk.
    var isKept: Bool { registry.isKept }

    /// What `GetStats` counts of all sources together.
    var counts: Statistics.SourceCounts {
        Statistics.SourceCounts(
            caches: registry.caches, updates: registry.updateCounts, pageBytes: registry.pageBytes)
    }
}

/// The data that a query reads. They are fixed when its params are read, so that what was determined about the
/// answer beforehand holds for the answer itself.
struct QueryTarget: Sendable {
    let source: Source
    let revision: Revision
    /// The query's filter, of the features that its caller sees.
    let filter: QueryFilter?
    /// The features that the caller sees; nil: all.
    let seen: QueryFilter?

    /// The name of the source or the view, which is that of the layer in its tiles.
    var name: String { SourceReference(source.name, view: revision.name).text }

    /// Whether the caller may see no single feature.
    var hidesPoints: Bool { seen.map { $0.leastCount > 1 } ?? false }

    /// The view that answers a query if it is cached, so that planning can look at it. Pass it on to `view`: a view is
    /// looked up once for a call.
    func readyView(zoom: Double?) -> View? { revision.readyView(filter, zoom: zoom) }

    /// Whether a restricted view can be shown without building anything first. Throws if a property is not indexed.
    func isReady(_ restriction: ViewRestriction?, _ view: View) throws(RPCError) -> Bool {
        guard let restriction else { return true }
        return try answering { () throws(SourceError) in try restriction.isReady(in: revision, view) }
    }

    /// The view that answers a query, built if it was not cached. Blocks: only for threads of the pool if it was not.
    func view(_ ready: View?, zoom: Double?, _ call: CallContext) throws(SourceError) -> View {
        if let ready { return ready }
        return try revision.view(filter, zoom: zoom, call.cancellation)
    }

    /// An answer made from this revision. It is written on the pool if features may have to be read from disk,
    /// and discarded if the features' text turns out to be damaged while it is written.
    ///
    /// - Parameters:
    ///   - isQuick: whether it is short.
    ///   - isResident: whether the features of the answer can be read without waiting, if that is not true of all
    ///     features.
    ///   - write: writes the answer from a revision.
    func answer(
        isQuick: Bool, isResident: () -> Bool = { false },
        _ write: @escaping @Sendable (Revision, CallContext, inout ByteWriter) throws(SourceError) -> Void
    ) -> PreparedAnswer {
        PreparedAnswer(
            isQuick: isQuick && (revision.isResident || isResident()),
            revision: revision.number
        ) { (call, bytes) throws(RPCError) in
            try answering(call) { () throws(SourceError) in
                try write(revision, call, &bytes)
                try source.checkIntact(revision)
            }
        }
    }
}

/// Answers short enough to be written on the loop's thread.
enum ShortListing {
    /// The maximum number of features.
    static let features = 2000
    /// The maximum number of features that may be expected where their number is found first.
    static let found = 3 * features
    /// The maximum number of nodes to count in a window, which takes half a microsecond each and more.
    static let counted = 500
}
