// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources

/// `LoadFile`: imports features from a file that the daemon reads.
struct LoadFile: UnaryMethod {
    let declaration = MethodDeclaration.loadFile
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let source = try catalog.sourceToChange(params, call, insteadOf: .features)
        let path = try params.string("path")
        let settings = catalog.settings.values
        let options = try ImportParams(params)
        return PreparedAnswer(isQuick: false, subject: .file(source.name)) { (call, bytes) throws(RPCError) in
            try answering(call) { () throws(SourceError) in
                let file = try settings.importDirectories.open(
                    path, maximumBytes: settings.limits.maxFileBytes)
                let load = FeatureImport(
                    into: source, mode: options.mode, policy: options.policy, format: options.format,
                    wrapsLongitudes: options.wraps, allowsEmpty: options.allowsEmpty)
                try load.read(file, threads: settings.limits.buildThreads, call.cancellation)
                let outcome = try load.finish(call.cancellation)
                call.noteChanged(outcome.accepted)
                outcome.write(into: &bytes)
            }
        }
    }
}
