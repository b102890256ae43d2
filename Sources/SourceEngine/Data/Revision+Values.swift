// SPDX-License-Identifier: MIT
import Clustering
import SystemSupport

extension Revision {
    /// A view's points by one of the indexed properties, if nothing has to be built for it. Never waits.
    ///
    /// - Parameter path: the param that names the property, for errors.
    /// - Throws: `invalidParameter` if the property is not indexed.
    package func readyPoints(_ property: String, in view: View, path: String) throws(SourceError) -> IndexedPoints? {
        try checkIndexed(property, path: path)
        let values = view.members == nil ? view.values : view.filtered.withLock { $0[property]?.values }
        return values.flatMap { IndexedPoints(view.index, $0, property: property) }
    }

    /// The same; for the view of a filter the values are arranged on first use, in about a tenth of a second for a
    /// million points. Blocks: only for threads of the pool.
    ///
    /// - Throws: `tooLarge` if filters may not hold them.
    package func points(
        by property: String, in view: View, path: String, _ cancellation: Cancellation
    ) throws(SourceError) -> IndexedPoints {
        if let ready = try readyPoints(property, in: view, path: path) { return ready }
        guard let members = view.members,
            let own = self.view.values.flatMap({ IndexedPoints(self.view.index, $0, property: property) })
        else { throw .defect("a view lacks its indexed values") }
        let claim = shared.memory.claim(for: nil, .filter)
        try claim.grow(to: Self.bytesOfValues(all: pointCount, passing: members.count))
        let all = own.allValues()
        try cancellation.stopIfCancelled()
        let numbers = members.map { row in
            self.view.point(of: Int(row)).map { all[Int($0.rawValue)] } ?? .nan
        }
        var values = PointValues(of: view.index)
        do throws(ClusteringError) {
            try values.add(property, numbers, of: view.index, threads: shared.limits.buildThreads) {
                cancellation.isCancelled
            }
        } catch { throw SourceError(error) }
        let made = FilteredValues(values: values, claim: claim.kept(values.memoryBytes))
        view.filtered.withLock { $0[property] = $0[property] ?? made }
        guard let points = IndexedPoints(view.index, values, property: property) else {
            throw .defect("a view lacks its indexed values")
        }
        return points
    }

    /// What arranging a filter's values takes at most, in bytes: all values twice, then 56 for each point that passes.
    private static func bytesOfValues(all: Int, passing: Int) -> Int { all * 16 + passing * 56 }

    /// Throws if a property is not indexed.
    ///
    /// - Parameter path: the param that names it.
    package func checkIndexed(_ property: String, path: String) throws(SourceError) {
        let names = options.indexedProperties.map(\.name)
        guard !names.contains(property) else { return }
        let known =
            names.isEmpty
            ? "the source has none: add it to the option indexedProperties"
            : "these are \(names.joined(separator: ", "))"
        throw .invalidParameter(path: path, message: "'\(property)' is not an indexed property; \(known)")
    }
}
