// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources

/// `CreateSource`: creates an empty source with options.
struct CreateSource: UnaryMethod {
    let declaration = MethodDeclaration.createSource
    let catalog: SourceCatalog

    /// The source exists, whatever its data are.
    var needsNoData: Bool { true }

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let catalog = catalog
        // Nothing is written to disk unless sources are persistent.
        return PreparedAnswer(isQuick: !catalog.registry.isKept) { (call, bytes) throws(RPCError) in
            let name = try catalog.name(params)
            try catalog.checkChange(of: name, call)
            let options = try params.value("options")
            let owner: UInt32? = call.right == .admin ? nil : call.peer.userID
            try answering { () throws(SourceError) in
                let options = try SourceOptions(reading: options)
                let source = try catalog.registry.create(name, options: options, owner: owner)
                OptionsOutcome(created: source, with: options).write(into: &bytes)
            }
        }
    }
}
