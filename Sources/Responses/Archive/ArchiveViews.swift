// SPDX-License-Identifier: MIT
import SourceEngine
import SystemSupport

/// The views that the zooms of an archive show: one for all zooms or, if the filter depends on the zoom, one for each
/// level of clusters.
///
/// It holds one view at a time, so that memory does not grow with the number of zooms.
struct ArchiveViews {
    private let revision: Revision
    private let filter: QueryFilter?
    private let cancellation: Cancellation
    /// The view returned last, and the level that it belongs to.
    private var last: (level: Int?, view: View)?

    init(of revision: Revision, _ filter: QueryFilter?, _ cancellation: Cancellation) {
        self.revision = revision
        self.filter = filter
        self.cancellation = cancellation
    }

    /// The zooms of an archive in runs that show the same view, ascending.
    func runs(of zooms: ClosedRange<Int>) -> [ClosedRange<Int>] {
        var runs: [ClosedRange<Int>] = []
        for zoom in zooms {
            if let run = runs.last, level(of: run.lowerBound) == level(of: zoom) {
                runs[runs.count - 1] = run.lowerBound...zoom
            } else {
                runs.append(zoom...zoom)
            }
        }
        return runs
    }

    /// The view that a zoom shows, the same as that of `GetTile`. Builds it if it is not cached, after the previous one
    /// is released.
    mutating func view(at zoom: Int) throws(ArchiveError) -> View {
        let level = level(of: zoom)
        if let last, last.level == level { return last.view }
        last = nil
        do throws(SourceError) {
            let view = try revision.view(filter, zoom: Double(zoom), cancellation)
            last = (level, view)
            return view
        } catch { throw ArchiveError(error) }
    }

    /// The features that the tiles of some zooms show, alone or in clusters.
    mutating func features(at zooms: ClosedRange<Int>) throws(ArchiveError) -> PassingFeatures {
        guard let filter, filter.mentionsZoom else {
            return PassingFeatures(of: try view(at: zooms.lowerBound), in: revision)
        }
        do throws(SourceError) {
            return try PassingFeatures(of: revision, filter, atAnyOf: zooms, cancellation)
        } catch { throw ArchiveError(error) }
    }

    /// The view whose clusters have all properties that clusters of some zooms can have.
    mutating func viewOfFields(at zooms: ClosedRange<Int>) throws(ArchiveError) -> View {
        guard let filter, filter.mentionsZoom else { return try view(at: zooms.lowerBound) }
        do throws(SourceError) { return try revision.viewOfFields(filter, cancellation) } catch {
            throw ArchiveError(error)
        }
    }

    /// Nil if all zooms show the same view.
    private func level(of zoom: Int) -> Int? {
        guard let filter, filter.mentionsZoom else { return nil }
        return revision.level(ofZoom: zoom)
    }
}
