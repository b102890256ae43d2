// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Responses
import SourceEngine

/// A call's params, read by their declarations. A param that is missing, of the wrong type or out of range is an error
/// that names it by its path. A param that is left out has its default.
public struct Params: Sendable {
    public let object: JSONObject
    /// Such as `params` or `params.feature`.
    public let path: String
    /// The text of all params as sent, if the method keeps texts.
    let text: [UInt8]
    /// The source that the params name, looked up once for a call: its data and what is asked about them are of one
    /// source.
    var source: Source?
    /// What the caller may see of each source; nil: everything.
    var access: SourceAccess?

    public init(_ object: JSONObject, path: String = "params", text: [UInt8] = []) {
        self.object = object
        self.path = path
        self.text = text
    }

    /// The value of a param as sent; nil if it is absent.
    public subscript(param: ParamDeclaration) -> JSONValue? { object[param.name] }

    public func path(of param: ParamDeclaration) -> String { path(of: param.name) }

    /// The path of a member.
    public func path(of name: String) -> String { "\(path).\(name)" }

    /// An error that names a param, or one of its elements.
    func invalid(_ param: ParamDeclaration, at index: Int? = nil, _ problem: String) -> RPCError {
        .invalidParam(path(of: param) + (index.map { "[\($0)]" } ?? ""), problem)
    }

    /// Rejects params that are not among the known names.
    public func rejectUnknown(_ known: [String]) throws(RPCError) {
        // Both lists are short: comparing costs less than hashing.
        for index in object.members.indices
        where !known.contains(where: { $0.hasSameBytes(as: object.members[index].key) }) {
            let names = known.isEmpty ? "There are none." : "Known are: \(known.sorted().joined(separator: ", "))."
            throw .invalidParam(path(of: object.members[index].key), "is unknown. \(names)")
        }
    }

    // MARK: Values by type

    public func string(_ param: ParamDeclaration) throws(RPCError) -> String {
        try present(try optionalString(param), param)
    }

    public func optionalString(_ param: ParamDeclaration) throws(RPCError) -> String? {
        guard let value = self[param] ?? param.standard else { return nil }
        guard case .string(let text) = value else { throw invalid(param, "must be a string.") }
        return text
    }

    /// One of the param's words.
    func word<Word: RawRepresentable<String>>(
        _ param: ParamDeclaration, as _: Word.Type = Word.self
    ) throws(RPCError) -> Word {
        let text = try string(param)
        guard case .word(let words) = param.type, words.contains(text), let word = Word(rawValue: text) else {
            throw invalid(param, "must be \(param.type.name).")
        }
        return word
    }

    public func number(_ param: ParamDeclaration) throws(RPCError) -> Double {
        try present(try optionalNumber(param), param)
    }

    public func optionalNumber(_ param: ParamDeclaration) throws(RPCError) -> Double? {
        guard let value = self[param] ?? param.standard else { return nil }
        guard case .number(let number) = value else { throw invalid(param, "must be a number.") }
        if case .number(let range?) = param.type, !range.contains(number) {
            throw invalid(param, "must be a \(param.type.name).")
        }
        return number
    }

    /// - Parameter range: the valid values, if they are fewer than those of the declaration.
    public func integer(_ param: ParamDeclaration, in range: ClosedRange<Int64>? = nil) throws(RPCError) -> Int64 {
        try present(try optionalInteger(param, in: range), param)
    }

    public func optionalInteger(
        _ param: ParamDeclaration, in range: ClosedRange<Int64>? = nil
    ) throws(RPCError) -> Int64? {
        guard let value = self[param] ?? param.standard else { return nil }
        guard case .number(let number) = value, let integer = Int64(exactly: number) else {
            throw invalid(param, "must be an integer.")
        }
        if let range = range ?? param.type.integers, !range.contains(integer) {
            throw invalid(param, "must be an integer from \(range.lowerBound) to \(range.upperBound).")
        }
        return integer
    }

    /// False if it is left out and has no default.
    public func flag(_ param: ParamDeclaration) throws(RPCError) -> Bool {
        guard let value = self[param] ?? param.standard else { return false }
        guard case .bool(let flag) = value else { throw invalid(param, "must be true or false.") }
        return flag
    }

    public func optionalArray(_ param: ParamDeclaration) throws(RPCError) -> [JSONValue]? {
        guard let value = self[param] else { return nil }
        guard case .array(let values) = value else { throw invalid(param, "must be an array.") }
        return values
    }

    /// Strings, or some of the param's words.
    public func optionalStrings(_ param: ParamDeclaration) throws(RPCError) -> [String]? {
        guard let values = try optionalArray(param) else { return nil }
        var strings: [String] = []
        for (index, value) in values.enumerated() {
            guard case .string(let text) = value else { throw invalid(param, at: index, "must be a string.") }
            if case .words(let words) = param.type, !words.contains(text) {
                throw invalid(param, at: index, "must be one of \(words.joined(separator: ", ")).")
            }
            strings.append(text)
        }
        return strings
    }

    func box(_ param: ParamDeclaration) throws(RPCError) -> Box {
        let values = try present(try optionalArray(param), param)
        guard values.count == 4 else {
            throw invalid(param, "must be [west, south, east, north] in degrees.")
        }
        func edge(_ index: Int) throws(RPCError) -> Double {
            guard case .number(let edge) = values[index], edge.isFinite else {
                throw invalid(param, at: index, "must be a number of degrees.")
            }
            return edge
        }
        return Box(west: try edge(0), south: try edge(1), east: try edge(2), north: try edge(3))
    }

    /// A half-open range of an indexed property's values; nil if it is left out.
    func window() throws(RPCError) -> ViewRestriction.Window? {
        guard let value = self[.window] else { return nil }
        let shape = "must be an object of one indexed property and its range: {\"time\": [from, to]}."
        guard case .object(let object) = value, let (name, range) = object.members.first, object.members.count == 1,
            case .array(let ends) = range, ends.count == 2
        else { throw invalid(.window, shape) }
        func end(_ index: Int) throws(RPCError) -> Double? {
            switch ends[index] {
            case .null: return nil
            case .number(let number) where number.isFinite: return number
            default:
                throw .invalidParam("\(path(of: .window)).\(name)[\(index)]", "must be a number, or null for no bound.")
            }
        }
        return ViewRestriction.Window(property: name, from: try end(0), to: try end(1))
    }

    /// Ascending numbers; nil if they are left out.
    func edges(_ param: ParamDeclaration, count: ClosedRange<Int>) throws(RPCError) -> [Double]? {
        guard let values = try optionalArray(param) else { return nil }
        guard count.contains(values.count) else {
            throw invalid(param, "must be an array of \(count.lowerBound) to \(count.upperBound) numbers.")
        }
        var edges: [Double] = []
        for (index, value) in values.enumerated() {
            guard case .number(let edge) = value, edge.isFinite else {
                throw invalid(param, at: index, "must be a number.")
            }
            if let last = edges.last, last >= edge { throw invalid(param, at: index, "must be above the one before.") }
            edges.append(edge)
        }
        return edges
    }

    /// A member object as `Params`; its paths extend this one's.
    public func optionalObject(_ param: ParamDeclaration) throws(RPCError) -> Params? {
        guard let value = self[param] else { return nil }
        guard case .object(let inner) = value else { throw invalid(param, "must be an object.") }
        return Params(inner, path: path(of: param))
    }

    /// Any value, which is not looked into.
    func value(_ param: ParamDeclaration) throws(RPCError) -> JSONValue { try present(self[param], param) }

    private func present<Value>(_ value: Value?, _ param: ParamDeclaration) throws(RPCError) -> Value {
        guard let value else { throw invalid(param, "is missing: \(param.type.expected) was expected.") }
        return value
    }
}
