// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Responses
import SourceEngine

/// Params that are read from their text as sent: features, whose text is stored, and ids, since a parsed number loses
/// the last digits of a long integer.
extension Params {
    /// The text of a param as sent, if the method keeps texts; otherwise the value written as JSON.
    public func text(of param: ParamDeclaration) -> [UInt8]? {
        guard let value = self[param] else { return nil }
        var found: [UInt8]?
        text.withUnsafeBytes { text in
            for (key, value) in JSONMembers(ofValidated: text)
            where JSONText.string(inside: key).hasSameBytes(as: param.name) { found = Array(value) }
        }
        if let found { return found }
        var writer = ByteWriter()
        writer.append(value)
        return writer.bytes
    }

    /// A feature's id: a number or a string.
    func featureID(_ param: ParamDeclaration) throws(RPCError) -> FeatureIdentifier {
        guard let id = text(of: param).flatMap({ FeatureIdentifier(json: $0) }) else {
            throw invalid(param, "must be a feature's id: a number or a string.")
        }
        return id
    }

    /// Ids of features to pin; none if the param is left out.
    func pins() throws(RPCError) -> [FeatureIdentifier] {
        guard let values = try optionalArray(.pin) else { return [] }
        guard values.count <= ViewRestriction.mostPins else {
            throw invalid(.pin, "must have at most \(ViewRestriction.mostPins) ids.")
        }
        return try featureIDs(.pin)
    }

    /// Ids of features; none if the param is left out.
    func featureIDs(_ param: ParamDeclaration) throws(RPCError) -> [FeatureIdentifier] {
        for (index, value) in (try optionalArray(param) ?? []).enumerated() {
            guard FeatureIdentifier(value) != nil else {
                throw invalid(param, at: index, "must be a number or a string.")
            }
        }
        return FeatureIdentifier.list(json: text(of: param) ?? []) ?? []
    }
}
