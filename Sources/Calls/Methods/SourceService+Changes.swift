// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources
import SystemSupport
import JSON

/// Calls that cluster anew or free much memory.
extension SourceService {
    var changeHandlers: [(String, SimpleHandler)] {
        let catalog = catalog
        return [
            (
                "DeleteSource",
                onPool(["source"]) { (params, call, bytes) throws(RPCError) in
                    let name = try catalog.name(params)
                    try catalog.checkChange(of: name, call)
                    try answering { () throws(SourceError) in try catalog.registry.delete(name) }
                    bytes.append("{}")
                }
            ),
            (
                "LoadFile",
                onPool(["source", "path"] + ImportParams.names + ImportParams.formatNames) {
                    (params, call, bytes) throws(RPCError) in
                    try catalog.loadFile(params, call, &bytes)
                }
            ),
            (
                "UpdateFeatures",
                onPool(["source", "upsert", "remove"]) { (params, call, bytes) throws(RPCError) in
                    try catalog.updateFeatures(params, call, &bytes)
                }
            ),
            (
                "UpdateOptions",
                onPool(["source", "options"]) { (params, call, bytes) throws(RPCError) in
                    let source = try catalog.sourceToChange(params, call)
                    guard let options = params["options"] else {
                        throw .invalidParam(
                            params.path(of: "options"), "is missing: the whole options were expected.")
                    }
                    guard options != .null else {
                        throw .invalidParam(params.path(of: "options"), "must be an object.")
                    }
                    try answering(call) { () throws(SourceError) in
                        let options = try SourceOptions(reading: options)
                        try source.update(options: options, call.cancellation).write(into: &bytes)
                    }
                }
            ),
        ]
    }

    private func onPool(
        _ known: [String],
        _ answer: @escaping @Sendable (Params, CallContext, inout ByteWriter) throws(RPCError) -> Void
    ) -> SimpleHandler {
        let catalog = catalog
        return SimpleHandler(
            known,
            place: { (params) throws(RPCError) -> Placement in
                _ = try catalog.source(params)
                return .pool
            }, answer: answer)
    }
}

extension SourceCatalog {
    fileprivate func loadFile(
        _ params: Params, _ call: CallContext, _ bytes: inout ByteWriter
    ) throws(RPCError) {
        let source = try sourceToChange(params, call)
        let path = try params.string("path")
        let settings = settings.values
        let options = try ImportParams(params)
        try answering(call) { () throws(SourceError) in
            let file = try settings.importDirectories.open(
                path, maximumBytes: settings.limits.maxFileBytes)
            let load = FeatureImport(
                into: source, mode: options.mode, policy: options.policy, format: options.format,
                wrapsLongitudes: options.wraps, allowsEmpty: options.allowsEmpty)
            try load.read(file, threads: settings.limits.buildThreads, call.cancellation)
            try load.finish(call.cancellation).write(into: &bytes)
        }
    }

    fileprivate func updateFeatures(
        _ params: Params, _ call: CallContext, _ bytes: inout ByteWriter
    ) throws(RPCError) {
        let source = try sourceToChange(params, call)
        _ = try params.optionalArray("upsert")
        var removals: [FeatureIdentifier] = []
        for (place, value) in (try params.optionalArray("remove") ?? []).enumerated() {
            guard let identifier = FeatureIdentifier(value) else {
                throw .invalidParam("\(params.path(of: "remove"))[\(place)]", "must be a number or a string.")
            }
            removals.append(identifier)
        }
        // Features are kept as they were sent, so it is their text that is passed on.
        let features = params.text(of: "upsert") ?? Array("[]".utf8)
        do throws(SourceError) {
            let outcome = try features.withUnsafeBufferPointer { (features) throws(SourceError) in
                try source.update(
                    upserts: UnsafeRawBufferPointer(features), removals: removals, call.cancellation)
            }
            outcome.write(into: &bytes)
        } catch {
            throw RPCError(error, call).ofFeature(in: params.path(of: "upsert"))
        }
    }
}
