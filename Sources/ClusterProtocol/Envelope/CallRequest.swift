// SPDX-License-Identifier: MIT
import JSON

/// The message that opens a call.
public struct CallRequest: Sendable, Equatable {
    /// The call's id, 1 to 2^53 - 1, chosen by the client.
    public var id: Int64
    /// The method's name with its service and version, such as `clusterd.v1.ClusterService/GetClusters`.
    public var method: String
    public var params: JSONObject
    /// The params as sent, for methods that keep features' texts; otherwise empty. A client whose params are text
    /// sends this instead of `params`.
    public var paramsText: [UInt8] = []
    /// The size of the params' text in bytes. It is not part of the call: requests that differ only in it are
    /// equal.
    public var paramsBytes = 0
    /// The approximate memory that the params use, parsed and as text, in bytes.
    public var memoryBytes = 0
    /// How long the client waits, in milliseconds; nil: no limit.
    public var timeoutMilliseconds: Int64?
    public var acceptsDeflate: Bool

    public init(
        id: Int64, method: String, params: JSONObject, timeoutMilliseconds: Int64? = nil,
        acceptsDeflate: Bool = false, paramsBytes: Int = 0
    ) {
        self.paramsBytes = paramsBytes
        self.id = id
        self.method = method
        self.params = params
        self.timeoutMilliseconds = timeoutMilliseconds
        self.acceptsDeflate = acceptsDeflate
    }
}

extension CallRequest {
    /// Reads the params of a message.
    mutating func read(_ element: JSONElement) {
        paramsBytes = element.rawRange.count
        memoryBytes = element.valueCount * Self.bytesPerValue + paramsBytes
        guard
            let declaration = Self.methodsThatKeepText.first(where: { $0.fullName.hasSameBytes(as: method) })
        else {
            if case .object(let object) = element.value { params = object }
            return
        }
        paramsText = Array(element.rawText)
        params = JSONObject(
            element.members.map { key, value in
                let isTextOnly =
                    value.kind == .array && declaration.textParams.contains { key.isString(Array($0.utf8)) }
                if isTextOnly { memoryBytes -= value.valueCount * Self.bytesPerValue }
                return (key.string ?? "", isTextOnly ? .array([]) : value.value)
            })
        memoryBytes += paramsBytes
    }

    /// The approximate memory of a parsed value in bytes, including its share of the array or object that
    /// contains it.
    private static let bytesPerValue = 64

    private static let methodsThatKeepText = MethodDeclaration.all.filter(\.keepsParamsText)

    public static func == (a: CallRequest, b: CallRequest) -> Bool {
        a.id == b.id && a.method == b.method && a.params == b.params && a.paramsText == b.paramsText
            && a.timeoutMilliseconds == b.timeoutMilliseconds && a.acceptsDeflate == b.acceptsDeflate
    }
}
