// SPDX-License-Identifier: MIT
import Responses
import ClusterProtocol
import Expressions
import GeoJSON
import JSON
import SourceEngine
import SystemSupport

extension RPCError {
    /// Converts a source's error to a status. If a deadline ended the work, the status is `DEADLINE_EXCEEDED`.
    init(_ error: SourceError, _ call: CallContext? = nil) {
        switch error {
        case .invalidParameter(let path, let message): self = .invalidParam("params.\(path)", message + ".")
        case .invalidExpression(let path, let errors): self = .invalidExpression("params.\(path)", errors)
        case .sourceExists: self.init(.alreadyExists, error.description)
        case .sourceNotFound(_, .some): self.init(.notFound, "\(error) ListSources lists the sources")
        case .viewNotFound: self.init(.notFound, "\(error)")
        case .sourceNotFound: self.init(.notFound, "\(error); ListSources lists the sources")
        case .clusterNotFound: self.init(.notFound, "\(error); GetClusters gives current ids")
        case .featureNotFound, .missingFile: self.init(.notFound, error.description)
        case .revisionChanged(_, let current):
            self.init(.aborted, error.description, details: ["revision": .number(Double(current))])
        case .conflict: self.init(.aborted, error.description)
        case .badFeature(let index, let reason, _, let feature):
            var details: JSONObject = ["reason": .string(reason)]
            details["index"] = index.map { .number(Double($0)) }
            details["line"] = feature?.line.map { .number(Double($0)) }
            details["id"] = feature?.identifier.flatMap { try? JSONReader.parse($0) }
            self.init(.invalidArgument, error.description, details: details)
        case .emptyImport: self.init(.invalidArgument, "\(error) params.allowEmpty allows that.")
        case .unreadableInput: self.init(.invalidArgument, error.description)
        case .forbiddenFile, .unusableRule: self.init(.permissionDenied, error.description)
        case .tooLarge, .evaluationTooLong, .diskFull: self.init(.resourceExhausted, error.description)
        case .stateNotWritable: self.init(.failedPrecondition, error.description)
        case .damaged: self.init(.dataLoss, error.description)
        case .unavailable: self.init(.unavailable, error.description)
        case .followsNothing: self.init(.failedPrecondition, "\(error): leave atLeast out")
        case .otherFormat, .followsTable, .attached: self.init(.failedPrecondition, error.description)
        case .cancelled:
            self = call?.isPastDeadline == true ? CallContext.deadlineError : CallContext.cancelledError
        case .defect: self.init(.internal, error.description)
        }
    }

    /// The same error, with a bad feature named by its index in an array param.
    func ofFeature(in path: String) -> RPCError {
        guard case .number(let index)? = details?["index"] else { return self }
        var error = self
        let param = "\(path)[\(String(javaScript: index))]"
        error.message = "\(param): \(message)"
        error.details?["param"] = .string(param)
        return error
    }

    private static func invalidExpression(_ path: String, _ errors: [ExpressionError]) -> RPCError {
        let first = errors.first.map { "\($0.key): \($0.message)" } ?? " is no expression."
        return RPCError(
            .invalidArgument, path + first,
            details: [
                "param": .string(path),
                "errors": .array(errors.map { .object(["key": .string($0.key), "message": .string($0.message)]) }),
            ])
    }
}

/// Runs `body` and converts its `SourceError` to a status.
func answering<Result: ~Copyable>(
    _ call: CallContext? = nil, _ body: () throws(SourceError) -> Result
) throws(RPCError) -> Result {
    do throws(SourceError) {
        return try body()
    } catch {
        throw RPCError(error, call)
    }
}

extension CallContext {
    /// The call's cancellation, in the form that sources check.
    var cancellation: Cancellation { Cancellation(of: share.key.number) { self.isOver } }
}
