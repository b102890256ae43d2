// SPDX-License-Identifier: MIT

/// The result of a request's conditions for a file (RFC 9110, section 13.2.2).
enum ArchivePrecondition: Equatable {
    /// The request is performed.
    case none
    case failed
    case notModified

    init(_ head: RequestHead, _ archive: ServedArchive) {
        if let field = head[.ifMatch], !archive.tag.matchesStrongly(field) {
            self = .failed
        } else if let field = head[.ifNoneMatch] {
            self = archive.tag.match(Array(field.utf8)[...]) == nil ? .none : .notModified
        } else if let field = head[.ifModifiedSince] {
            self = Self.isDate(field, of: archive) ? .notModified : .none
        } else {
            self = .none
        }
    }

    /// The part that a request asks for. `If-Range` names the archive of which the client has other parts; if
    /// that is a different one, the client gets the whole file.
    static func range(_ head: RequestHead, _ archive: ServedArchive) -> ByteRange {
        guard head.method == .get else { return .whole }
        if let field = head[.ifRange], !archive.tag.matchesStrongly(field), !isDate(field, of: archive) {
            return .whole
        }
        return ByteRange(head[.range], size: archive.size)
    }

    /// Whether a date is the archive's own `Last-Modified`, the only date that its clients can have.
    private static func isDate(_ field: String, of archive: ServedArchive) -> Bool {
        field.utf8.elementsEqual(HTTPDate.text(archive.modified))
    }
}
