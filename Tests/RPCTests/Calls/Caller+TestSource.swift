// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Responses
import SourceTestSupport
import Testing

@testable import RPC
@testable import SourceEngine

extension Caller {
    /// A caller on the sources of a test; by default it may do everything.
    convenience init(
        on test: TestSource, loop: HandLoop, answers: KeptAnswers, right: AccessRight = .admin,
        limits: Limits = Limits()
    ) throws {
        try self.init(on: test.registry, loop: loop, answers: answers, right: right, limits: limits)
    }

    /// The same on a registry.
    ///
    /// - Parameters:
    ///   - exports: where archives may be written.
    ///   - looking: called before a call's source, and what it waits for, are looked up.
    ///   - found: called after that.
    convenience init(
        on registry: SourceRegistry, loop: HandLoop, answers: KeptAnswers,
        right: AccessRight = .admin, limits: Limits = Limits(), access: AccessPolicy = AccessPolicy(),
        exports: ExportDirectories = ExportDirectories([]),
        looking: (@Sendable () -> Void)? = nil,
        found: (@Sendable () -> Void)? = nil
    ) throws {
        let settings = LiveSettings(
            LiveSettings.Values(limits: limits, importDirectories: ImportDirectories([]), exportDirectories: exports))
        let metrics = Metrics()
        var methods = MethodSet(SourceCatalog(registry: registry, settings: settings), ServerStatus(metrics: metrics))
        methods.find = { [find = methods.find] (method, params) throws(RPCError) in
            looking?()
            defer { found?() }
            return try find(method, &params)
        }
        let load = ServerLoad(limits: limits)
        let engine = CallEngine(
            loop: loop, limits: limits, access: access,
            metrics: metrics.shard(methods.all.map(\.declaration.fullName)), methods: methods, load: load)
        let share = try #require(load.users.enter(.unknown))
        self.init(engine, peer: .unknown, right: right, unread: UnreadAccount(share), transport: answers)
    }

    /// Opens a call on the source "test". What it answers at once goes to `answers` too.
    func open(
        _ method: String, _ params: JSONObject, id: Int64, timeout: Int64? = nil,
        by identity: Identity? = nil, as encoder: any AnswerEncoder = BareEncoder(), answers: KeptAnswers
    ) {
        var params = params
        params["source"] = "test"
        var bytes = ByteWriter()
        var request = CallRequest(id: id, method: "clusterd.v1.\(method)", params: params)
        request.timeoutMilliseconds = timeout
        do throws(RPCError) {
            if try open(request, by: identity ?? self.identity, as: encoder, into: &bytes) == nil {
                answers.answerBytes.append(bytes.bytes)
            }
        } catch { answers.errors.append(error) }
    }
}
