// SPDX-License-Identifier: MIT
import Clustering
import Sources

/// What answers cache for a view: requested hulls, and serialized features.
final class ViewAnswerCache: ViewCache, @unchecked Sendable {
    let hulls = HullCache()
    let features: PrintedFeatures

    private init(_ view: View) {
        // There are many views of filters, and their memory is counted when they are made.
        features = PrintedFeatures(indexBytes: view.members == nil ? view.index.memoryBytes : 0)
    }

    override var memoryBytes: Int { features.memoryBytes }

    static func of(_ view: View) -> ViewAnswerCache {
        if let known = view.cache.value as? ViewAnswerCache { return known }
        let made = ViewAnswerCache(view)
        return view.cache.keep(made) as? ViewAnswerCache ?? made
    }
}
