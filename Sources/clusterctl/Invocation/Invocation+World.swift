// SPDX-License-Identifier: MIT
import ClusterClient
import JSON

extension Invocation {
    /// Fails if a source is on a plane, of which there is no map with land and degrees.
    func requireWorld(_ description: SourceDescription) throws {
        guard description.options["projection"]?["planar"] != nil else { return }
        throw Failure(
            message:
                "\(description.name) is on a plane, and only the map page shows those: start clusterd with --http, "
                + "or use 'clusterctl serve'")
    }
}
