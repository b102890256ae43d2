// SPDX-License-Identifier: MIT
import Calls
import Answers
import Sources
import SystemSupport
import JSON

/// All services on one set of sources.
struct ServiceSet {
    let handlers: MethodHandlers

    let registry: SourceRegistry
    let settings: LiveSettings

    /// - Parameter directory: where sources are kept; nil: nowhere.
    init(
        configuration: Configuration, directory: StateDirectory?, metrics: Metrics, log: Log,
        isServing: @escaping @Sendable () -> Bool
    ) {
        let limits = configuration.limits
        let registry = SourceRegistry(
            limits: SourceLimits(
                filterCacheBytes: limits.filterCacheBytes, buildThreads: limits.buildThreads,
                memory: limits.memory), directory: directory, report: { Self.report($0, log) })
        let settings = LiveSettings(configuration.liveValues(limits))
        let catalog = SourceCatalog(registry: registry, settings: settings)
        let server = ServerService(
            limits: { settings.values.limits }, metrics: metrics, isServing: isServing,
            sources: { Self.statistics(registry) }, caches: { registry.caches },
            updates: { registry.updateCounts })
        self.registry = registry
        self.settings = settings
        handlers = [ClusterService(catalog: catalog).handlers, SourceService(catalog: catalog).handlers]
            .reduce(server.handlers) { $0.merging($1) { first, _ in first } }
    }

    private static func report(_ event: StateEvent, _ log: Log) {
        let level: Log.Level =
            switch event.gravity {
            case .information: .info
            case .warning: .warning
            case .error: .error
            }
        if let source = event.source {
            log.write(level, event.message, ["source": .string(source)])
        } else {
            log.write(level, event.message)
        }
    }

    private static func statistics(_ registry: SourceRegistry) -> [ServerService.SourceStatistics] {
        registry.all.map { source in
            let revision = source.revision
            return ServerService.SourceStatistics(
                name: source.name.text, points: revision.pointCount, memoryBytes: revision.memoryBytes,
                revision: Int64(clamping: revision.number))
        }
    }
}
