// SPDX-License-Identifier: MIT
import ClusterSources
import Synchronization

/// What handlers ask of the configuration while it may be reloaded. Safe from any thread.
public final class LiveSettings: Sendable {
    struct Values: Sendable {
        var limits: Limits
        var importDirectories: ImportDirectories
        /// Sources that the configuration declares: only administrators change them.
        var declaredSources: Set<SourceName> = []
    }

    private let state: Mutex<Values>

    init(_ values: Values) { state = Mutex(values) }

    var values: Values { state.withLock { $0 } }

    /// Holds for calls that begin afterwards.
    func set(_ values: Values) { state.withLock { $0 = values } }
}
