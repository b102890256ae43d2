// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Protobuf

/// Why a message is not accepted, and at which field. The path grows while the error passes the messages that contain
/// the field, so that reading a good message makes no paths.
struct FieldFault: Error {
    /// Steps such as `.bbox` and `[2]`.
    private(set) var path = ""
    let problem: String

    init(_ problem: String) { self.problem = problem }

    init(_ error: WireError) { self.init("is not a protobuf message: \(error.problem).") }

    /// The same fault, in a member of that name or index.
    func inside(_ step: String) -> FieldFault {
        var fault = self
        fault.path = step + path
        return fault
    }

    func inside(_ index: Int) -> FieldFault { inside("[\(index)]") }

    /// The status of the call.
    ///
    /// - Parameter root: what the path begins with, such as `params`.
    func error(in root: String) -> RPCError { .invalidParam(root + path, problem) }

    /// How deep messages may be nested in each other, as arrays and objects in JSON.
    static let maximumDepth = JSONReader.maximumDepth

    static let tooDeep = FieldFault("is nested more than \(maximumDepth) levels deep.")
}

extension WireError {
    fileprivate var problem: String {
        switch self {
        case .truncated: "it ends within a field"
        case .oversizedVarint: "a number has more than 64 bits"
        case .invalidFieldNumber: "a field's number is not from 1 to 536870911"
        case .unknownWireType(let type): "a field has the wire type \(type), which proto3 does not have"
        }
    }
}

/// Runs `body`, in which errors of the wire format become faults.
func decoding<Result: ~Copyable>(_ body: () throws(WireError) -> Result) throws(FieldFault) -> Result {
    do { return try body() } catch { throw FieldFault(error) }
}
