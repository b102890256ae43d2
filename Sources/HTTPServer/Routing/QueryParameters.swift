// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// Reads the query of a URL, given the parameters that its resource supports.
enum QueryParameters {
    /// Adds the parameters to a call's params. Throws an error that names a parameter that is unknown or given twice.
    ///
    /// - Returns: the text of params that are read as sent, as a JSON object; empty if there are none.
    @discardableResult static func read(
        _ query: ArraySlice<UInt8>?, known: [ParamDeclaration], into params: inout JSONObject
    ) throws(RequestFailure) -> [UInt8] {
        guard let query else { return [] }
        var seen: [String] = []
        var exact: [String] = []
        for part in query.split(separator: UInt8(ascii: "&")) {
            let mark = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard let name = PercentEncoding.decode(part[..<mark], plusIsSpace: true),
                let text = PercentEncoding.decode(part[mark...].dropFirst(), plusIsSpace: true)
            else {
                let part = String(decoding: part.prefix(80), as: UTF8.self)
                throw RequestFailure.malformed(
                    "The query parameter \(part) is malformed: it is not percent-encoded UTF-8.")
            }
            guard let param = known.first(where: { $0.name == name }) else {
                throw RequestFailure(.badRequest, "The query parameter \"\(name)\" is unknown. \(list(known))")
            }
            guard !seen.contains(name) else {
                throw RequestFailure(.badRequest, "The query parameter \"\(name)\" is given twice.")
            }
            seen.append(name)
            do throws(JSONError) { params[name] = try param.type.value(of: text) } catch {
                throw RequestFailure(.badRequest, "The query parameter \"\(name)\" is not JSON: \(error.message)")
            }
            if let json = param.type.exactJSON(of: text) { exact.append("\"\(name)\":\(json)") }
        }
        return exact.isEmpty ? [] : Array("{\(exact.joined(separator: ","))}".utf8)
    }

    private static func list(_ known: [ParamDeclaration]) -> String {
        known.isEmpty ? "There are none." : "Known are: \(known.map(\.name).sorted().joined(separator: ", "))."
    }
}
