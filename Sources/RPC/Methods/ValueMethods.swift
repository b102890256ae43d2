// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Responses
import SourceEngine
import SystemSupport

/// `TopFeatures`: returns the features in a box with the greatest or least values of an indexed property.
struct TopFeatures: UnaryMethod {
    let declaration = MethodDeclaration.topFeatures
    let catalog: SourceCatalog
    var writesProtobuf: Bool { true }

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let target = try catalog.target(params)
        let box = try params.box(.bbox)
        let ranking = SourceCatalog.ranking(try params.string(.by))
        let limit = Int(try params.integer(.topLimit))
        var output = try catalog.output(params)
        output.form = call.form.features
        try answering { () throws(SourceError) in try target.revision.checkIndexed(ranking.property, path: "by") }
        try target.checkWindow(output.restriction?.window)
        if case .columns(let geometry) = call.form {
            return target.columns(call, zoom: nil) { [output] (revision, view, cancellation) throws(SourceError) in
                try revision.topColumns(
                    ranking, in: box, of: view, limit: limit, output: output, geometry: geometry, cancellation)
            }
        }
        return target.answer(isQuick: false) { [output] (revision, call, bytes) throws(SourceError) in
            let view = try target.view(nil, zoom: nil, call)
            try revision.writeTop(
                ranking, in: box, of: view, limit: limit, output: output, into: &bytes, call.cancellation)
        }
    }
}

/// `GetHistogram`: returns how the values of an indexed property are distributed in a box.
struct GetHistogram: UnaryMethod {
    let declaration = MethodDeclaration.getHistogram
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let target = try catalog.target(params)
        let box = try params.box(.bbox)
        let property = try params.string(.property)
        let bins = try params.optionalInteger(.bins).map { Int($0) }
        let edges = try params.edges(.edges, count: 2...1001)
        let window = try params.window()
        try answering { () throws(SourceError) in try target.revision.checkIndexed(property, path: "property") }
        try target.checkWindow(window)
        guard window?.property != property else {
            throw params.invalid(.window, "must be of another property than the histogram.")
        }
        // The edges of bins would be the values of single points.
        if bins != nil, target.hidesPoints { throw SeenPart.denied("params.bins") }
        let binning: HistogramBins
        switch (bins, edges) {
        case (let bins?, nil): binning = .count(bins)
        case (nil, let edges?): binning = .edges(edges)
        case (nil, nil): throw params.invalid(.bins, "is missing: give bins, or edges in its place.")
        default: throw params.invalid(.edges, "can't be given together with bins.")
        }
        return target.answer(isQuick: false) { (revision, call, bytes) throws(SourceError) in
            let view = try target.view(nil, zoom: nil, call)
            try revision.writeHistogram(
                of: property, in: box, of: view, binning, window: window, into: &bytes, call.cancellation)
        }
    }
}

extension QueryTarget {
    /// Throws if a window's property is not indexed.
    func checkWindow(_ window: ViewRestriction.Window?) throws(RPCError) {
        guard let window else { return }
        try answering { () throws(SourceError) in try revision.checkIndexed(window.property, path: "window") }
    }
}
