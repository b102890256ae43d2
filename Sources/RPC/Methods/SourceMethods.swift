// SPDX-License-Identifier: MIT
import Responses
import ClusterProtocol
import JSON
import SourceEngine

/// `CreateSource`: creates an empty source with options.
struct CreateSource: UnaryMethod {
    let declaration = MethodDeclaration.createSource
    let catalog: SourceCatalog

    /// The source exists, whatever its data are.
    var needsNoData: Bool { true }

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let catalog = catalog
        // Nothing is written to disk unless sources are persistent.
        return PreparedAnswer(isQuick: !catalog.isKept) { (call, bytes) throws(RPCError) in
            let options = try answering { () throws(SourceError) in try SourceOptions(reading: params[.options]) }
            let source = try catalog.create(params, call, options)
            OptionsOutcome(created: source, with: options).write(into: &bytes)
        }
    }
}

/// `UpdateOptions`: changes a source's options and rebuilds its clusters.
struct UpdateOptions: UnaryMethod {
    let declaration = MethodDeclaration.updateOptions
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let source = try catalog.sourceToChange(params, call, insteadOf: .options)
        let options = try params.value(.allOptions)
        return PreparedAnswer(isQuick: false, subject: .data(source.name)) { (call, bytes) throws(RPCError) in
            try answering(call) { () throws(SourceError) in
                let options = try SourceOptions(reading: options)
                try source.update(options: options, call.cancellation).write(into: &bytes)
            }
        }
    }
}

/// `DeleteSource`: removes a source and its files.
struct DeleteSource: UnaryMethod {
    let declaration = MethodDeclaration.deleteSource
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let name = try catalog.sourceToChange(params, call, insteadOf: .source).name
        return PreparedAnswer(isQuick: false, subject: .data(name)) { [catalog] (_, bytes) throws(RPCError) in
            try answering { () throws(SourceError) in try catalog.delete(name) }
            bytes.append("{}")
        }
    }
}

/// `GetSource`: returns a source's or a view's description.
struct GetSource: UnaryMethod {
    let declaration = MethodDeclaration.getSource
    let catalog: SourceCatalog

    var needsNoData: Bool { true }

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let (source, name) = (try catalog.source(params), try catalog.reference(params))
        return PreparedAnswer(isQuick: params.access == nil) { [catalog] (call, bytes) throws(RPCError) in
            let description = try answering { () throws(SourceError) in try source.description(of: name) }
            try catalog.seen(description, of: source, params.access, call).write(into: &bytes)
        }
    }
}

/// `ListSources`: returns all sources' descriptions, ordered by name.
struct ListSources: UnaryMethod {
    let declaration = MethodDeclaration.listSources
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        return PreparedAnswer(isQuick: params.access == nil) { [catalog] (call, bytes) throws(RPCError) in
            bytes.append("{\"sources\":[")
            for (index, description) in try catalog.descriptions(for: params.access, call).enumerated() {
                if index > 0 { bytes.append(",") }
                description.write(into: &bytes)
            }
            bytes.append("]}")
        }
    }
}
