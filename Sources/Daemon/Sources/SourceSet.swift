// SPDX-License-Identifier: MIT
import Responses
import RPC
import JSON
import SourceEngine
import EventLoop

/// The sources, and the methods on them.
struct SourceSet {
    let registry: SourceRegistry
    let settings: LiveSettings
    let methods: MethodSet

    /// - Parameter directory: where sources are stored; nil if they are not persistent.
    init(configuration: Configuration, directory: StateDirectory?, status: ServerStatus, log: Log) {
        let limits = configuration.limits
        registry = SourceRegistry(
            limits: SourceLimits(
                filterCacheBytes: limits.filterCacheBytes, buildThreads: limits.buildThreads,
                memory: limits.memory), directory: directory,
            report: { Self.report($0, log) })
        settings = LiveSettings(configuration.liveValues(limits))
        methods = MethodSet(SourceCatalog(registry: registry, settings: settings), status)
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
}

/// Removes features that are older than their source's option `ttlSeconds`, a few times per second. Belongs
/// to the loop's thread; the work is done in the background.
final class SourceExpiry {
    private var timer: Timer?

    /// The interval between checks of features' ages, in milliseconds.
    private static let interval: UInt64 = 250

    init(loop: EventLoop, registry: SourceRegistry) {
        timer = Timer(on: loop, delay: Self.interval, every: Self.interval) { registry.expireInBackground() }
        timer?.unreference()
    }
}
