// SPDX-License-Identifier: MIT
import RPC
import JSON

/// The meaning of recently requested targets of query resources. It depends on the target alone, and a map
/// requests the same tiles repeatedly.
///
/// A target's hash selects its slot, which is overwritten by the next target with that slot. So memory is
/// limited: 1024 entries with targets of at most 128 bytes.
struct RecentQueries {
    /// Belongs to the loop's thread, as does the whole table.
    final class Query {
        let target: [UInt8]
        let hash: UInt64
        /// The resource that the path names.
        let resource: Resource
        /// All params: those of the path and those of the query.
        let params: JSONObject
        /// How the answer is sent, before anything is known of the client.
        let plan: AnswerPlan
        /// The call that last answered it, and the answer's tag.
        var last: (call: StandingCall, tag: EntityTag)?

        fileprivate init(target: [UInt8], hash: UInt64, resource: Resource, params: JSONObject) {
            self.target = target
            self.hash = hash
            self.resource = resource
            self.params = params
            plan = if case .query(let query, _, _) = resource { query.plan } else { AnswerPlan() }
        }
    }

    private var slots: [Query?] = []

    private static let count = 1024
    private static let longestTarget = 128

    private static func slot(_ hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash ^ hash >> 32) & (count - 1)
    }

    /// The meaning of a target; nil if it was not requested recently.
    ///
    /// - Parameter hash: the target's hash.
    func query(_ target: ArraySlice<UInt8>, hash: UInt64) -> Query? {
        guard !slots.isEmpty, let query = slots[Self.slot(hash)], query.hash == hash,
            target.hasSameBytes(as: query.target)
        else { return nil }
        return query
    }

    /// Stores the meaning of a target, unless the target is long.
    mutating func keep(
        _ target: ArraySlice<UInt8>, hash: UInt64, _ resource: Resource, _ params: JSONObject
    ) -> Query {
        let query = Query(target: Array(target), hash: hash, resource: resource, params: params)
        guard target.count <= Self.longestTarget else { return query }
        if slots.isEmpty { slots = Array(repeating: nil, count: Self.count) }
        slots[Self.slot(hash)] = query
        return query
    }
}
