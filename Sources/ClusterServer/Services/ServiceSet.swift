// SPDX-License-Identifier: MIT

/// All services on one set of sources.
struct ServiceSet {
    let handlers: MethodHandlers

    init(configuration: Configuration, metrics: Metrics, isServing: @escaping @Sendable () -> Bool) {
        let server = ServerService(
            limits: configuration.limits, metrics: metrics, isServing: isServing, sources: { [] })
        handlers = server.handlers
    }
}
