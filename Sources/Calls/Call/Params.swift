// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Sources

/// A call's params, read by name. A param that is missing, of the wrong type or out of range is an error that
/// names it by its path.
public struct Params: Sendable {
    public let object: JSONObject
    /// Such as `params` or `params.options`.
    public let path: String
    /// The text of all params as sent, if the method keeps texts.
    private let text: [UInt8]
    /// The source that the params name, looked up once for a call: its data and what is asked about them are of one source.
    var source: Source?

    public init(_ object: JSONObject, path: String = "params", text: [UInt8] = []) {
        self.object = object
        self.path = path
        self.text = text
    }

    /// The text of a param as sent, if the method keeps texts; otherwise the value written as JSON.
    public func text(of name: String) -> [UInt8]? {
        guard let value = object[name] else { return nil }
        var found: [UInt8]?
        text.withUnsafeBytes { text in
            for (key, value) in JSONMembers(ofValidated: text)
            where JSONText.string(inside: key).hasSameBytes(as: name) {
                found = Array(value)
            }
        }
        if let found { return found }
        var writer = ByteWriter()
        writer.append(value)
        return writer.bytes
    }

    public func path(of name: String) -> String { "\(path).\(name)" }

    /// The value of a param; nil if it is absent.
    public subscript(name: String) -> JSONValue? { object[name] }

    /// The value of a param that holds an object supplied by the caller; nil if it is absent. Null is rejected.
    func value(_ name: String) throws(RPCError) -> JSONValue? {
        guard let value = object[name] else { return nil }
        guard value != .null else { throw .invalidParam(path(of: name), "must be an object, not null.") }
        return value
    }

    /// Rejects params that the method does not know.
    public func rejectUnknown(_ known: [String]) throws(RPCError) {
        // Both lists are short: comparing costs less than hashing.
        for position in object.members.indices
        where !known.contains(where: { $0.hasSameBytes(as: object.members[position].key) }) {
            let names =
                known.isEmpty ? "There are none." : "Known are: \(known.sorted().joined(separator: ", "))."
            throw .invalidParam(path(of: object.members[position].key), "is unknown. \(names)")
        }
    }

    public func string(_ name: String) throws(RPCError) -> String {
        guard let value = try optionalString(name) else { throw missing(name, "a string") }
        return value
    }

    public func optionalString(_ name: String) throws(RPCError) -> String? {
        guard let value = object[name] else { return nil }
        guard case .string(let text) = value else { throw .invalidParam(path(of: name), "must be a string.") }
        return text
    }

    /// - Parameter range: the valid values, both ends included.
    public func number(_ name: String, in range: ClosedRange<Double>? = nil) throws(RPCError) -> Double {
        guard let value = try optionalNumber(name, in: range) else { throw missing(name, "a number") }
        return value
    }

    public func optionalNumber(
        _ name: String, in range: ClosedRange<Double>? = nil
    ) throws(RPCError) -> Double? {
        guard let value = object[name] else { return nil }
        guard case .number(let number) = value else {
            throw .invalidParam(path(of: name), "must be a number.")
        }
        if let range, !range.contains(number) {
            throw .invalidParam(
                path(of: name),
                "must be a number from \(String(javaScript: range.lowerBound)) to \(String(javaScript: range.upperBound))."
            )
        }
        return number
    }

    public func integer(
        _ name: String, in range: ClosedRange<Int64> = -(1 << 53)...(1 << 53)
    ) throws(RPCError) -> Int64 {
        guard let value = try optionalInteger(name, in: range) else { throw missing(name, "an integer") }
        return value
    }

    public func optionalInteger(
        _ name: String, in range: ClosedRange<Int64> = -(1 << 53)...(1 << 53)
    ) throws(RPCError) -> Int64? {
        guard let value = object[name] else { return nil }
        guard case .number(let number) = value, let integer = Int64(exactly: number) else {
            throw .invalidParam(path(of: name), "must be an integer.")
        }
        guard range.contains(integer) else {
            throw .invalidParam(
                path(of: name), "must be an integer from \(range.lowerBound) to \(range.upperBound).")
        }
        return integer
    }

    public func optionalBool(_ name: String) throws(RPCError) -> Bool? {
        guard let value = object[name] else { return nil }
        guard case .bool(let flag) = value else {
            throw .invalidParam(path(of: name), "must be true or false.")
        }
        return flag
    }

    public func array(_ name: String) throws(RPCError) -> [JSONValue] {
        guard let value = try optionalArray(name) else { throw missing(name, "an array") }
        return value
    }

    public func optionalArray(_ name: String) throws(RPCError) -> [JSONValue]? {
        guard let value = object[name] else { return nil }
        guard case .array(let values) = value else {
            throw .invalidParam(path(of: name), "must be an array.")
        }
        return values
    }

    /// A member object as `Params`; its paths extend this one's.
    public func optionalObject(_ name: String) throws(RPCError) -> Params? {
        guard let value = object[name] else { return nil }
        guard case .object(let inner) = value else {
            throw .invalidParam(path(of: name), "must be an object.")
        }
        return Params(inner, path: path(of: name))
    }

    /// An array of strings.
    public func optionalStrings(_ name: String) throws(RPCError) -> [String]? {
        guard let values = try optionalArray(name) else { return nil }
        var strings: [String] = []
        for (index, value) in values.enumerated() {
            guard case .string(let text) = value else {
                throw .invalidParam("\(path(of: name))[\(index)]", "must be a string.")
            }
            strings.append(text)
        }
        return strings
    }

    private func missing(_ name: String, _ kind: String) -> RPCError {
        .invalidParam(path(of: name), "is missing: \(kind) was expected.")
    }
}
