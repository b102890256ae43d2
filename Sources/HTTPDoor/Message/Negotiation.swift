// SPDX-License-Identifier: MIT

/// What a client accepts (RFC 9110, section 12.5).
enum Negotiation {
    /// Whether `Accept-Encoding` allows gzip.
    static func acceptsGzip(_ field: String?) -> Bool {
        guard let field else { return false }
        var wildcard = false
        for (name, quality) in entries(field) {
            if name == "gzip" || name == "x-gzip" { return quality > 0 }
            if name == "*" { wildcard = quality > 0 }
        }
        return wildcard
    }

    /// Whether `Accept` names a media type itself.
    static func names(_ mediaType: String, in field: String?) -> Bool {
        guard let field else { return false }
        return entries(field).contains { $0.name == mediaType && $0.quality > 0 }
    }

    /// A media type without its parameters, in lower case.
    static func mediaType(_ field: String) -> String {
        (field.split(separator: ";", omittingEmptySubsequences: false).first ?? "").trimmingSpaces
            .lowercased()
    }

    private static func entries(_ field: String) -> [(name: String, quality: Double)] {
        field.split(separator: ",").map { entry in
            let parts = entry.split(separator: ";", omittingEmptySubsequences: false).map {
                $0.trimmingSpaces.lowercased()
            }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) }
            return (parts.first ?? "", weight ?? 1)
        }
    }
}
