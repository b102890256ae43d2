// SPDX-License-Identifier: MIT
import Answers
import Sources
import SystemSupport
import Synchronization

/// What handlers ask of the configuration while it may be reloaded. Safe from any thread.
public final class LiveSettings: Sendable {
    package struct Values: Sendable {
        package var limits: Limits
        package var importDirectories: ImportDirectories
        package var exportDirectories: ExportDirectories
        /// Sources that the configuration declares: only administrators change them.
        package var declaredSources: Set<SourceName> = []

        package init(
            limits: Limits, importDirectories: ImportDirectories,
            exportDirectories: ExportDirectories = ExportDirectories([]),
            declaredSources: Set<SourceName> = []
        ) {
            self.limits = limits
            self.importDirectories = importDirectories
            self.exportDirectories = exportDirectories
            self.declaredSources = declaredSources
        }
    }

    private let state: Mutex<Values>

    package init(_ values: Values) { state = Mutex(values) }

    package var values: Values { state.withLock { $0 } }

    /// Holds for calls that begin afterwards.
    package func set(_ values: Values) { state.withLock { $0 = values } }
}
