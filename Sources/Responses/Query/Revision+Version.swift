// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import SourceEngine
import SystemSupport
import TypedFeatures

extension Revision {
    /// Writes the last members of an answer, which identify its data, and its end: `revision`, and `position` if the
    /// data follow a log.
    ///
    /// - Parameter form: of a message, these are its last fields.
    public func endAnswer(_ bytes: inout ByteWriter, form: FeatureForm = .json) {
        guard form == .json else {
            return bytes.appendVersion(revision: number, position: position)
        }
        bytes.append(",\"revision\":")
        bytes.append(integer: Int64(clamping: number))
        if let position {
            bytes.append(",\"position\":")
            bytes.append(json: position)
        }
        bytes.append("}")
    }
}

/// Whether an answer can be written without waiting for a disk, in sources whose features' text is read from a file.
/// Text that the system has in its page cache is moved into memory first. Never true while parts of the index are not
/// in memory.
extension Revision {
    /// The nodes of a query, if no disk has to be read for them.
    public func residentNodes(_ query: ClustersQuery, of view: View) -> FoundNodes? {
        self.view.index.isResident ? try? view.nodes(query) : nil
    }

    public func isResident(_ found: FoundNodes, of view: View) -> Bool {
        var room = Self.mostMoved
        return found.nodes.allSatisfy { isResident($0, of: view, room: &room) }
    }

    public func isResident(_ tile: TileAddress, of view: View) -> Bool {
        guard self.view.index.isResident else { return false }
        var nodes: [ClusterIndex.TileNode] = []
        view.index.tileNodes(z: tile.z, x: Double(tile.x), y: Double(tile.y), into: &nodes)
        var room = Self.mostMoved
        return nodes.allSatisfy { isResident($0.node, of: view, room: &room) }
    }

    private func isResident(_ node: Node, of view: View, room: inout Int) -> Bool {
        guard case .point(let point) = node else { return true }
        return store.isResident(view.feature(of: point), room: &room)
    }

    /// So many pages are copied in a tenth of a millisecond.
    private static let mostMoved = 24
}
