// SPDX-License-Identifier: MIT

/// What a client accepts (RFC 9110, section 12.5).
package enum Negotiation {
    /// Whether `Accept-Encoding` allows gzip, and does not prefer an uncompressed answer.
    ///
    /// If the field does not name `identity`, it is allowed but never preferred (RFC 9110, section 12.5.3).
    static func acceptsGzip(_ field: String?) -> Bool {
        guard let field else { return false }
        var (gzip, identity, wildcard): (Double?, Double?, Double?)
        for (name, quality) in entries(field) {
            switch name {
            case "gzip", "x-gzip": gzip = max(gzip ?? 0, quality)
            case "identity": identity = max(identity ?? 0, quality)
            case "*": wildcard = max(wildcard ?? 0, quality)
            default: break
            }
        }
        guard let gzip = gzip ?? wildcard, gzip > 0 else { return false }
        return gzip >= identity ?? wildcard ?? 0
    }

    /// Whether `Accept` names a media type explicitly.
    static func names(_ mediaType: String, in field: String?) -> Bool {
        guard let field else { return false }
        return entries(field).contains { $0.name == mediaType && $0.quality > 0 }
    }

    /// Whether `Accept` prefers a media type that it names to the one that is sent otherwise.
    ///
    /// The weight of a type is that of the most specific range that includes it; of types with the same weight, the
    /// one that is named, or that is named first, is preferred. A wildcard is not a name.
    static func prefers(_ mediaType: String, to usual: [String], in field: String?) -> Bool {
        guard let field else { return false }
        let ranges = entries(field)
        guard let named = ranges.firstIndex(where: { $0.name == mediaType }), ranges[named].quality > 0 else {
            return false
        }
        if let other = ranges.firstIndex(where: { usual.contains($0.name) }) {
            let (quality, limit) = (ranges[named].quality, ranges[other].quality)
            return quality > limit || quality == limit && named < other
        }
        let wildcard = ["application/*", "*/*"].lazy.compactMap { name in ranges.first { $0.name == name } }.first
        return ranges[named].quality >= wildcard?.quality ?? 0
    }

    /// A media type without its parameters, in lower case.
    package static func mediaType(_ field: String) -> String {
        (field.split(separator: ";", omittingEmptySubsequences: false).first ?? "").trimmingSpaces
            .lowercased()
    }

    private static func entries(_ field: String) -> [(name: String, quality: Double)] {
        field.utf8.split(separator: UInt8(ascii: ",")).map { entry in
            let parts = entry.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map {
                Substring($0).trimmingSpaces.lowercased()
            }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) }
            return (parts.first ?? "", weight ?? 1)
        }
    }
}

extension StringProtocol {
    /// The text without leading and trailing spaces and tabs.
    package var trimmingSpaces: String {
        var text = Substring(self)
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }
}
