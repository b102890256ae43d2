// SPDX-License-Identifier: MIT
import ClusterProtocol
import Responses
import JSON
import SourceEngine
import Synchronization
import Tokens

/// The settings that methods read and a reload of the configuration may change. Safe from any thread.
public final class LiveSettings: Sendable {
    package struct Values: Sendable {
        package var limits: Limits
        /// The limits of each transport that has its own, by its name, as `GetServerInfo` reports them.
        package var transportLimits: JSONObject
        package var importDirectories: ImportDirectories
        package var exportDirectories: ExportDirectories
        /// Sources declared in the configuration; only administrators change them.
        package var declaredSources: Set<SourceName> = []
        /// Who may see what, for explanations. Calls obey the rules of their loop's engine.
        package var access = Access()

        package init(
            limits: Limits, transportLimits: JSONObject = [:], importDirectories: ImportDirectories,
            exportDirectories: ExportDirectories = ExportDirectories([]), declaredSources: Set<SourceName> = []
        ) {
            self.limits = limits
            self.transportLimits = transportLimits
            self.importDirectories = importDirectories
            self.exportDirectories = exportDirectories
            self.declaredSources = declaredSources
        }

        var limitsJSON: JSONObject {
            var object = limits.json
            for (transport, limits) in transportLimits.members { object[transport] = limits }
            return object
        }
    }

    package struct Access: Sendable {
        package var policy = AccessPolicy()
        /// Nil if nobody needs a token.
        package var tokens: TokenVerifier?
        /// The highest right that a token can give.
        package var tokenRight = AccessRight.query

        package init() {}
    }

    private let state: Mutex<Values>

    package init(_ values: Values) { state = Mutex(values) }

    package var values: Values { state.withLock { $0 } }

    /// Applies to calls that begin afterwards.
    package func set(_ values: Values) { state.withLock { $0 = values } }
}
