// SPDX-License-Identifier: MIT
import Responses
import Clustering
import JSON
import SourceEngine
import SystemSupport

/// How long it takes to find a cluster from its id, by index ids and by origin ids: the lookup alone, no call. The ids
/// are of all zooms and in random order, so that each lookup meets memory that no other has just read.
func benchmarkLookups(longitudes: [Double], latitudes: [Double]) throws {
    for kind in ["index", "origin"] {
        let options: JSONValue = .object(["clusterIds": .string(kind)])
        let source = try makeSource(rows: Array(longitudes.indices), options: options) { index, bytes in
            bytes.appendFeature(index, longitudes[index], latitudes[index])
            bytes.append("null}")
        }
        guard let revision = source?.revision, let view = revision.readyView(nil, zoom: nil) else { return }
        var random = SequenceGenerator()
        let ids = try clusterIds(of: revision, in: view).shuffled(using: &random)
        let batch = 1000
        var sum = 0
        let times = Stopwatch.sample(ids.count / batch) { number in
            for id in ids[number * batch..<(number + 1) * batch] {
                guard let cluster = try? revision.cluster(id, in: view, .never) else { continue }
                sum &+= Int(cluster.rawValue) | 1
            }
        }
        guard sum != 0 else { return }
        let what = "cluster found by \(kind) id, \(ids.count) clusters of \(longitudes.count) points"
        report(what, times.median / Double(batch), "ns")
        report("\(what), 99th percentile of batches of \(batch)", times.p99 / Double(batch), "ns")
    }
}

/// The ids of the clusters of all zooms.
private func clusterIds(of revision: Revision, in view: View) throws -> [Int64] {
    var ids: [Int64] = []
    let box = Box(west: -180, south: -90, east: 180, north: 90)
    for zoom in 0...16 {
        var bytes = ByteWriter()
        try revision.writeClusters(
            ClustersQuery(box: box, zoom: Double(zoom)), of: view, into: &bytes, .never)
        guard case .object(let answer) = try bytes.withUnsafeBytes({ try JSONReader.parse(Array($0)) }),
            case .array(let features)? = answer["features"]
        else { continue }
        for case .object(let feature) in features {
            guard case .object(let properties)? = feature["properties"], properties["cluster"] != nil,
                case .number(let id)? = feature["id"]
            else { continue }
            ids.append(Int64(id))
        }
    }
    return ids
}
