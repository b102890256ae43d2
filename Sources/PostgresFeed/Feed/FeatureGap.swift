// SPDX-License-Identifier: MIT
import JSON

/// A place in a feature's text where a property's value is missing.
struct FeatureGap: Sendable, Equatable {
    /// The offset at which the value belongs, in bytes from the beginning of the text.
    let offset: Int
    /// The property's name.
    let name: [UInt8]

    /// Fills the gaps with values from a stored feature's properties; returns nil if one is missing there.
    /// O(both texts).
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
