// SPDX-License-Identifier: MIT

/// The result of a request's conditions for a file (RFC 9110, section 13.2.2).
enum ArchivePrecondition: Equatable {
    /// The request is performed.
    case none
    /// The request is not performed, because the archive does not meet a condition.
    case failed(HeaderField)
    case notModified

    init(_ head: RequestHead, _ archive: ServedArchive) {
        if let failed = Self.failed(head, archive) {
            self = .failed(failed)
        } else if let field = head[.ifNoneMatch] {
            self = archive.tag.match(Array(field.utf8)[...]) == nil ? .none : .notModified
        } else if let date = head[.ifModifiedSince].flatMap({ HTTPDate.seconds($0) }) {
            self = archive.modified <= date ? .notModified : .none
        } else {
            self = .none
        }
    }

    /// The condition that the archive must meet but does not. Dates count only if there are no tags.
    private static func failed(_ head: RequestHead, _ archive: ServedArchive) -> HeaderField? {
        if let field = head[.ifMatch] { return archive.tag.matchesStrongly(field) ? nil : .ifMatch }
        guard let date = head[.ifUnmodifiedSince].flatMap({ HTTPDate.seconds($0) }), archive.modified > date
        else { return nil }
        return .ifUnmodifiedSince
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

    /// Whether a date is exactly the archive's own `Last-Modified`, as parts of the same file require.
    private static func isDate(_ field: String, of archive: ServedArchive) -> Bool {
        field.utf8.elementsEqual(HTTPDate.text(archive.modified))
    }
}
