// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources
import SystemSupport
import JSON

/// clusterd.v1.SourceService: sources and what is in them.
package struct SourceService: Sendable {
    package let catalog: SourceCatalog

    package init(catalog: SourceCatalog) { self.catalog = catalog }

    package var handlers: MethodHandlers {
        var handlers: MethodHandlers = [:]
        for (name, handler) in descriptionHandlers + changeHandlers + [("EvaluateExpression", evaluation)] {
            handlers["clusterd.v1.SourceService/\(name)"] = .unary(handler)
        }
        handlers["clusterd.v1.SourceService/ImportFeatures"] = .clientStream(
            FeatureImportHandler(catalog: catalog))
        return handlers
    }

    /// Calls that only tell, or change what costs nothing.
    private var descriptionHandlers: [(String, SimpleHandler)] {
        let catalog = catalog
        return [
            (
                "CreateSource",
                SimpleHandler(
                    ["source", "options"],
                    place: { (_) throws(RPCError) in catalog.registry.isKept ? .pool : .loop }
                ) { (params, call, bytes) throws(RPCError) in
                    let name = try catalog.name(params)
                    try catalog.checkChange(of: name, call)
                    let owner = call.right == .admin ? nil : call.peer.userID
                    try answering { () throws(SourceError) in
                        let options = try SourceOptions(reading: params["options"])
                        try catalog.registry.create(name, options: options, owner: owner).description.write(
                            into: &bytes)
                    }
                }
            ),
            (
                "GetSource",
                onLoop(["source"]) { (params, _, bytes) throws(RPCError) in
                    try catalog.source(params).description.write(into: &bytes)
                }
            ),
            (
                "ListSources",
                onLoop([]) { (_, _, bytes) throws(RPCError) in
                    bytes.append("{\"sources\":[")
                    for (place, source) in catalog.registry.all.enumerated() {
                        if place > 0 { bytes.append(",") }
                        source.description.write(into: &bytes)
                    }
                    bytes.append("]}")
                }
            ),
        ]
    }

    private func onLoop(
        _ known: [String],
        _ answer: @escaping SimpleHandler.Answer
    ) -> SimpleHandler {
        SimpleHandler(
            known, place: { (_) throws(RPCError) in .loop },
            answer: answer)
    }
}
