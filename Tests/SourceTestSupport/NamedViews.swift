// SPDX-License-Identifier: MIT
import Foundation
import JSON
import Responses
import SourceEngine
import TestSupport
import Testing

/// Compares named views with what they are defined to equal: sources that are loaded with the source's features in
/// their order and the view's options.
package enum NamedViews {
    /// Expects each view of a source to answer as such a source, apart from clusters' ids.
    package static func expectEqual(_ source: Source, _ comment: String = "") throws {
        let revision = source.revision
        #expect(revision.views.map(\.name) == revision.options.views.map(\.name), "\(comment)")
        for (named, option) in zip(revision.views, revision.options.views) {
            try expectEqual(named, try fresh(revision, option), "\(comment) \(option.name)")
        }
    }

    /// A source of its own with a view's options and the source's features.
    private static func fresh(_ revision: Revision, _ option: ViewOption) throws -> Revision {
        var text = ByteWriter()
        text.append(option.options.json)
        let test = try TestSource(options: text.string)
        let rows = (0..<revision.store.count).filter { !revision.store.isRemoved($0) }
        let features = rows.map { row in
            var bytes = ByteWriter()
            revision.store.writeSent(row, into: &bytes)
            return bytes.string
        }
        let load = FeatureImport(
            into: test.source, mode: .replace, policy: .skip, allowsEmpty: true)
        try load.add("[" + features.joined(separator: ",") + "]")
        _ = try load.finish(.never)
        return test.source.revision
    }

    private static func expectEqual(_ mine: Revision, _ theirs: Revision, _ comment: String) throws {
        #expect(mine.pointCount == theirs.pointCount, "\(comment)")
        #expect(mine.bounds == theirs.bounds, "\(comment)")
        #expect(mine.options.json == theirs.options.json, "\(comment)")
        for zoom in [0.0, 4, 7, 17] {
            let (one, other) = (try world(mine, zoom), try world(theirs, zoom))
            guard withoutIds(one) == withoutIds(other) else {
                Issue.record("\(comment): at zoom \(zoom)\n\(withoutIds(one))\nshould be\n\(withoutIds(other))")
                return
            }
            for (one, other) in zip(try Answer(one).clusterIds.prefix(3), try Answer(other).clusterIds) {
                #expect(try details(mine, one) == details(theirs, other), "\(comment): at zoom \(zoom)")
            }
        }
        let filter = QueryFilter(try JSONReader.parse(#"["<",["get","n"],6]"#))
        #expect(
            try withoutIds(world(mine, 4, filter)) == withoutIds(world(theirs, 4, filter)),
            "\(comment): with a filter")
        for property in mine.options.indexedProperties {
            #expect(
                try values(mine, property.name) == values(theirs, property.name), "\(comment): \(property.name)")
        }
        #expect(try tile(mine) == tile(theirs), "\(comment)")
        #expect(try features(mine) == features(theirs), "\(comment)")
        let fields = try mine.fields(of: nil, zooms: 0...17, threads: 1, .never)
        #expect(
            try Set(fields.keys) == Set(theirs.fields(of: nil, zooms: 0...17, threads: 1, .never).keys), "\(comment)")
    }

    package static func world(_ revision: Revision, _ zoom: Double, _ filter: QueryFilter? = nil) throws -> String {
        var bytes = ByteWriter()
        let view = try revision.view(filter, zoom: zoom, .never)
        try revision.writeClusters(ClustersQuery(box: .world, zoom: zoom), of: view, into: &bytes, .never)
        return bytes.string
    }

    /// The indexed values of a view's features, in their order; nil for those without one.
    private static func values(_ revision: Revision, _ property: String) throws -> [Double?] {
        let values = try revision.points(by: property, in: revision.view, path: "by", .never).allValues()
        return (0..<revision.store.count).compactMap { revision.view.point(of: $0) }.map { point in
            let value = values[Int(point.rawValue)]
            return value.isNaN ? nil : value
        }
    }

    private static func details(_ revision: Revision, _ cluster: Int64) throws -> [String] {
        try [
            { try revision.writeChildren(of: cluster, in: revision.view, into: &$0, .never) },
            { try revision.writeLeaves(of: cluster, in: revision.view, limit: 0, offset: 1, into: &$0, .never) },
            { try revision.writeExpansionZoom(of: cluster, in: revision.view, into: &$0) },
            { try revision.writeHull(of: cluster, in: revision.view, into: &$0, .never) },
        ].map { (write: (inout ByteWriter) throws -> Void) in
            var bytes = ByteWriter()
            try write(&bytes)
            return withoutIds(bytes.string)
        }
    }

    private static func tile(_ revision: Revision) throws -> String {
        var bytes = ByteWriter()
        try revision.writeTile(
            try #require(TileAddress(z: 1, x: 1, y: 0)), of: revision.view, into: &bytes, .never)
        return withoutIds(bytes.string)
    }

    private static func features(_ revision: Revision) throws -> String {
        var pages = try FeaturePages(revision, filter: nil, output: FeatureOutput(), .never)
        var features: [String] = []
        while !pages.isAtEnd {
            var bytes = ByteWriter()
            try pages.writePage(into: &bytes, .never)
            let page = withoutIds(bytes.string).dropFirst(#"{"features":["#.count).dropLast("],}".count)
            if !page.isEmpty { features.append(String(page)) }
        }
        return features.joined(separator: ",")
    }

    /// An answer without the ids of clusters and the number of the data.
    package static func withoutIds(_ text: String) -> String {
        text.replacingOccurrences(
            of: #""revision":\d+(,"position":"[^"]*")?"#, with: "", options: .regularExpression
        )
        .replacingOccurrences(of: #""cluster_id":\d+"#, with: "", options: .regularExpression)
        .replacingOccurrences(
            of: #""id":\d+(,"properties":\{[^{}]*"cluster":true)"#, with: "$1", options: .regularExpression
        )
        .replacingOccurrences(
            of: #"("cluster":true[^{}]*\}),"id":\d+"#, with: "$1", options: .regularExpression)
    }
}
