// SPDX-License-Identifier: MIT
import Sources
import SystemSupport

/// What answers keep beside a view: hulls that were asked for, and features in their serialized form.
final class AnswerCache: ViewCache {
    let hulls = HullCache()
    let features: PrintedFeatures

    private init(_ view: View) {
        // Filters' views are many, and what they hold is counted when they are made.
        features = PrintedFeatures(indexBytes: view.members == nil ? view.index.memoryBytes : 0)
    }

    var memoryBytes: Int { features.memoryBytes }

    static func of(_ view: View) -> AnswerCache { view.cache.value { AnswerCache(view) } }
}
