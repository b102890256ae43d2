// SPDX-License-Identifier: MIT
import JSON

/// A message from a client.
public enum ClientMessage: Sendable, Equatable {
    case open(CallRequest)
    /// The next item of a call whose client streams: a JSON text.
    case item(id: Int64, [UInt8])
    case end(id: Int64)
    case cancel(id: Int64)

    public var id: Int64 {
        switch self {
        case .open(let request): request.id
        case .item(let id, _), .end(let id), .cancel(let id): id
        }
    }
}

extension ClientMessage {
    /// The greatest id: the greatest integer that every JSON reader represents exactly.
    public static let maximumID: Int64 = (1 << 53) - 1

    /// Reads one message. Members that the envelope does not know are ignored, so that it can grow.
    public static func read(_ text: Span<UInt8>, parser: JSONParser) throws(EnvelopeError) -> ClientMessage {
        do {
            // A lone surrogate invalidates the feature that contains it, not the message: features' text is
            // parsed again later.
            return try parser.withTape(of: text, allowsLoneSurrogates: true) { (tape) throws(EnvelopeError) in
                if tape.hasLoneSurrogates { try checkSurrogates(tape.root) }
                return try read(tape.root)
            }
        } catch {
            switch error {
            case .body(let error): throw error
            case .json(let error): throw refusal(of: text, for: error)
            }
        }
    }

    /// Rejects lone surrogates outside features, as text that is not JSON.
    private static func checkSurrogates(_ root: JSONElement) throws(EnvelopeError) {
        let features = root["item"]?["features"] ?? root["params"]?["upsert"]
        guard root.loneSurrogates > features?.loneSurrogates ?? 0 else { return }
        let problem = "The message is not JSON: a string has half a surrogate pair, such as \\ud800."
        throw EnvelopeError(id: nil, error: RPCError(.invalidArgument, problem))
    }

    /// A message that is nested too deeply or has a number that is too large is still an object, and is
    /// answered under its id.
    private static func refusal(of text: Span<UInt8>, for error: JSONError) -> EnvelopeError {
        guard error.kind == .depth || error.kind == .number else {
            return EnvelopeError(
                id: nil, error: RPCError(.invalidArgument, "The message is not JSON: \(error.message)"))
        }
        let (id, opensCall) = text.withUnsafeBytes { outline(of: $0) }
        return EnvelopeError(
            id: id, error: RPCError(.invalidArgument, "The message is rejected: \(error.message)"),
            isOpening: id != nil && opensCall)
    }

    /// Scans an object that cannot be parsed, so that the answer can name the call: its id, nil if that is missing or
    /// invalid or if the text is not one object, and whether it has a method. O(length).
    private static func outline(of text: UnsafeRawBufferPointer) -> (id: Int64?, opensCall: Bool) {
        let object = UnsafeRawBufferPointer(rebasing: text.drop { $0 <= UInt8(ascii: " ") })
        guard object.first == UInt8(ascii: "{") else { return (nil, false) }
        var (id, opensCall) = (Int64?.none, false)
        var members = JSONMembers(ofValidated: object)
        while let (key, value) = members.next() {
            if key.elementsEqual("id".utf8) { id = Int64(String(decoding: value, as: UTF8.self)) }
            if key.elementsEqual("method".utf8) { opensCall = true }
        }
        let rest = object.dropFirst(members.offset).drop { $0 <= UInt8(ascii: " ") }
        guard rest.first == UInt8(ascii: "}"), rest.dropFirst().allSatisfy({ $0 <= UInt8(ascii: " ") }),
            let id, (1...maximumID).contains(id)
        else { return (nil, false) }
        return (id, opensCall)
    }

    private static func read(_ root: JSONElement) throws(EnvelopeError) -> ClientMessage {
        guard root.kind == .object else {
            throw EnvelopeError(id: nil, error: RPCError(.invalidArgument, "The message is not a JSON object."))
        }
        let (method, item, end, cancel) = (root["method"], root["item"], root["end"], root["cancel"])
        guard let id = root["id"]?.integer, id >= 1, id <= maximumID else {
            throw EnvelopeError(
                id: nil,
                error: RPCError(
                    .invalidArgument, "The message has no usable id: an integer from 1 to 2^53-1 was expected."),
                isOpening: method != nil && item == nil)
        }
        func refuse(_ problem: String) -> EnvelopeError {
            EnvelopeError(id: id, error: RPCError(.invalidArgument, problem), isOpening: method != nil)
        }
        let kinds = [method, item, end, cancel].count { $0 != nil }
        guard kinds == 1 else {
            throw refuse("The message must have exactly one of \"method\", \"item\", \"end\" and \"cancel\".")
        }
        if let item {
            guard item.kind == .object else { throw refuse("item must be an object.") }
            return .item(id: id, Array(item.rawText))
        }
        if let end {
            guard end.bool == true else { throw refuse("end must be true.") }
            return .end(id: id)
        }
        if let cancel {
            guard cancel.bool == true else { throw refuse("cancel must be true.") }
            return .cancel(id: id)
        }
        guard let method, let name = MethodDeclaration.name(method) ?? method.string
        else { throw refuse("method must be a string.") }
        var request = CallRequest(id: id, method: name, params: JSONObject())
        if let params = root["params"] {
            guard params.kind == .object else { throw refuse("params must be an object.") }
            request.read(params)
        }
        if let timeout = root["timeoutMs"] {
            guard let milliseconds = timeout.integer, milliseconds >= 0 else {
                throw refuse("timeoutMs must be an integer from 0 up, in milliseconds.")
            }
            request.timeoutMilliseconds = milliseconds
        }
        if let encoding = root["acceptEncoding"] {
            switch encoding.string {
            case "deflate": request.acceptsDeflate = true
            case "identity": break
            default: throw refuse("acceptEncoding must be \"deflate\" or \"identity\".")
            }
        }
        return .open(request)
    }

    /// Writes the message as a frame of its own.
    public func write(into bytes: inout ByteWriter, compressing: Bool = false) {
        let frame = FrameEncoder(beginningIn: &bytes)
        bytes.append("{\"id\":")
        bytes.append(integer: id)
        switch self {
        case .open(let request):
            bytes.append(",\"method\":")
            bytes.append(json: request.method)
            if !request.paramsText.isEmpty {
                bytes.append(",\"params\":")
                bytes.append(contentsOf: request.paramsText)
            } else if !request.params.isEmpty {
                bytes.append(",\"params\":")
                bytes.append(.object(request.params))
            }
            if let timeout = request.timeoutMilliseconds {
                bytes.append(",\"timeoutMs\":")
                bytes.append(integer: timeout)
            }
            if request.acceptsDeflate { bytes.append(",\"acceptEncoding\":\"deflate\"") }
        case .item(_, let text):
            bytes.append(",\"item\":")
            bytes.append(contentsOf: text)
        case .end: bytes.append(",\"end\":true")
        case .cancel: bytes.append(",\"cancel\":true")
        }
        bytes.append("}")
        frame.end(in: &bytes, compressing: compressing)
    }
}

/// The message that opens a call.
public struct CallRequest: Sendable, Equatable {
    /// The call's id, 1 to 2^53 - 1, chosen by the client.
    public var id: Int64
    /// The method's name with its service and version, such as `clusterd.v1.ClusterService/GetClusters`.
    public var method: String
    public var params: JSONObject
    /// The params as sent, for methods that keep features' texts; otherwise empty. A client whose params are
    /// text sends this instead of `params`.
    public var paramsText: [UInt8] = []
    /// The size of the params' text in bytes. It is not part of the call: requests that differ only in it are equal.
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
            let declaration = Self.methodsThatKeepText.first(where: { $0.fullName.hasSameBytes(as: method) }),
            declaration.textParams.contains(where: { param in
                element.members.contains { $0.key.isString(param.nameBytes) }
            })
        else {
            if case .object(let object) = element.value { params = object }
            return
        }
        paramsText = Array(element.rawText)
        params = JSONObject(
            element.members.map { key, value in
                // Of features, which would use many times as much memory when parsed, only the text is kept.
                let isTextOnly =
                    value.kind == .array
                    && declaration.params.contains { $0.type == .features && key.isString(Array($0.name.utf8)) }
                if isTextOnly { memoryBytes -= value.valueCount * Self.bytesPerValue }
                return (key.string ?? "", isTextOnly ? .array([]) : value.value)
            })
        memoryBytes += paramsBytes
    }

    /// The approximate memory of a parsed value in bytes, including its share of the array or object that contains it.
    private static let bytesPerValue = 64

    private static let methodsThatKeepText = MethodDeclaration.all.filter { !$0.textParams.isEmpty }

    public static func == (a: CallRequest, b: CallRequest) -> Bool {
        a.id == b.id && a.method == b.method && a.params == b.params && a.paramsText == b.paramsText
            && a.timeoutMilliseconds == b.timeoutMilliseconds && a.acceptsDeflate == b.acceptsDeflate
    }
}

/// A message that cannot be used, and the id under which to answer if the message has a valid one.
public struct EnvelopeError: Error, Sendable, Equatable {
    public let id: Int64?
    public let error: RPCError
    /// Whether the message was meant to open a call. If so, it does not concern an open call with the same id.
    public let isOpening: Bool

    public init(id: Int64?, error: RPCError, isOpening: Bool = false) {
        self.id = id
        self.error = error
        self.isOpening = isOpening
    }
}
