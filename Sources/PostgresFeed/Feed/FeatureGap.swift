// SPDX-License-Identifier: MIT
import JSON

/// A property's value that is missing from a feature's text.
struct FeatureGap: Sendable, Equatable {
    /// Where the value belongs, in bytes from the text's beginning.
    let offset: Int
    /// The property's name.
    let name: [UInt8]

    /// Inserts the values of a stored feature's properties; nil if one is not there. Takes time proportional to both texts.
    static func fill(
        _ gaps: [FeatureGap], of template: [UInt8], from properties: UnsafeRawBufferPointer
    ) -> [UInt8]? {
        guard !gaps.isEmpty else { return template }
        guard properties.first == UInt8(ascii: "{") else { return nil }
        var values: [[UInt8]: UnsafeRawBufferPointer] = [:]
        for (key, value) in JSONMembers(ofValidated: properties) {
            values[Array(JSONText.string(inside: key).utf8)] = value
        }
        var filled: [UInt8] = []
        var end = 0
        for gap in gaps {
            guard let value = values[gap.name] else { return nil }
            filled += template[end..<gap.offset]
            filled += value
            end = gap.offset
        }
        return filled + template[end...]
    }
}
