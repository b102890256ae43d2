// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Responses
import SourceEngine
import SystemSupport
import Tokens

/// What a caller may see of each source, by the rules at the time of its call.
package struct SourceAccess: Sendable {
    private let rules: [AccessRule]
    private let caller: Identity

    /// Nil if no rule concerns the caller, who sees everything.
    init?(_ rules: [AccessRule], of caller: Identity) {
        guard !rules.isEmpty, !caller.isUnrestricted else { return nil }
        (self.rules, self.caller) = (rules, caller)
    }

    /// The index of the rule that applies to a source; nil if there is none.
    func rule(on name: SourceName) -> Int? {
        rules.firstIndex { $0.covers(name) && $0.admits(caller) }
    }

    /// Whether any rule names a source.
    func isCovered(_ name: SourceName) -> Bool { rules.contains { $0.covers(name) } }

    /// Whether the source exists for the caller.
    package func sees(_ name: SourceName) -> Bool { !isCovered(name) || rule(on: name) != nil }

    /// The same of a name that may be none.
    package func sees(_ text: String) -> Bool { SourceReference(text).map { sees($0.source) } ?? false }

    /// Whether the caller may see what an archive shows: all that is known to be from a part which it sees. Blocks: only
    /// for threads of the pool.
    package func seesArchive(_ file: FileDescriptor) -> Bool {
        let origin = ArchiveOrigin(of: file)
        guard let name = origin.source.flatMap({ SourceReference($0)?.source }), sees(name) else { return false }
        do throws(RPCError) {
            guard let digest = try seenPart(on: name)?.digest else { return true }
            return origin.part == digest
        } catch { return false }
    }

    /// The part of a visible source that the caller sees; nil if that is all, and the caller may change it.
    ///
    /// - Throws: `permissionDenied` if the rule needs a claim that the caller does not have, or that is not exact.
    func seenPart(on name: SourceName) throws(RPCError) -> SeenPart? {
        guard let index = rule(on: name) else { return nil }
        let rule = rules[index]
        do throws(RuleFilter.UnusableClaim) {
            guard let filter = rule.filter else { return SeenPart(filter: nil, minCount: rule.minCount) }
            return SeenPart(filter: try RuleFilter.bound(filter, to: caller), minCount: rule.minCount)
        } catch {
            throw RPCError(
                .permissionDenied,
                "What you may see of the source '\(name)' depends on the claim \"\(error.name)\", \(error.problem)."
            )
        }
    }
}

/// The part of a source that a caller sees, who may not change it.
struct SeenPart: Sendable, Equatable {
    /// The features that the caller sees; nil: all.
    let filter: JSONValue?
    /// The fewest points of a cluster that the caller sees; below 2: points are seen too.
    let minCount: Int

    var hidesPoints: Bool { minCount > 1 }

    /// A query's filter, of the features that the caller sees.
    func applied(to filter: JSONValue?) -> QueryFilter? {
        self.filter == nil && !hidesPoints
            ? filter.map { QueryFilter($0) }
            : QueryFilter(filter, within: self.filter ?? .bool(true), leastCount: minCount)
    }

    /// The features that the caller sees, as a filter.
    var seen: QueryFilter { QueryFilter(nil, within: filter ?? .bool(true), leastCount: minCount) }

    /// Identifies the part among all parts of the same source.
    var text: [UInt8] { applied(to: nil)?.text ?? [] }

    /// Identifies the part in archives, without showing it; nil if it is the whole source.
    var digest: String? { text.isEmpty ? nil : Digest.hexadecimal(text) }

    /// The error for a call that could show single points.
    static func denied(_ what: String) -> RPCError {
        RPCError(
            .permissionDenied,
            "\(what) can show single features, and you may see clusters of enough points only (access.rules, minCount)."
        )
    }
}
