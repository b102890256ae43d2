// SPDX-License-Identifier: MIT
import GeoJSON
import Glibc
import ImageStore
import SystemSupport

extension Source {
    /// The path of the image that others made and that the source reads; nil if its data are its own.
    public var image: String? { state.withLock { $0.image } }

    /// Whether an open file is an image, and not features.
    public static func isImage(_ file: FileDescriptor) -> Bool { Attachment.isImage(file) }

    /// Replaces the source's data by an image, which is read when queries need it. From then on the source is read only,
    /// but for another image. If this throws, nothing has changed. Blocks: only for threads of the pool.
    ///
    /// - Complexity: O(1) for a large image, besides the checksums of its pages: a few milliseconds for 10 GB.
    public func attach(_ file: FileDescriptor, _ cancellation: Cancellation) throws(SourceError) -> ImportOutcome {
        guard let path = Self.path(of: file) else {
            throw .unreadableInput("the image has no name any more; write it again")
        }
        let attachment = Attachment(image: path, owner: owner, createdAt: createdAt)
        let revision = try withChangeLock(cancellation) { () throws(SourceError) -> Revision in
            guard !isRetired else { throw .sourceNotFound(name) }
            let opened: Source
            do throws(StateFault) { opened = try attachment.open(name, file, shared: shared) } catch {
                throw .unreadableInput("the image cannot be read: \(error.message)")
            }
            try checkAttachable(opened.revision)
            guard let directory = shared.directory else { return try adopt(opened, attachment, in: nil) }
            return try directory.withNamingLock { () throws(SourceError) in
                // The directory of a deleted source may be another source's by now.
                guard !jobs.isHeld else { throw .sourceNotFound(name) }
                return try adopt(opened, attachment, in: directory.directory(of: name))
            }
        }
        return ImportOutcome(
            description: description(of: revision), accepted: revision.pointCount, skippedReasons: [:], warnings: [])
    }

    /// - Parameter own: the source's directory; nil if it has none.
    private func adopt(
        _ opened: Source, _ attachment: Attachment, in own: String?
    ) throws(SourceError) -> Revision {
        if let own {
            try onDisk(try attachment.store(in: own))
            // No write is running after this.
            files?.retire()
            Attachment.removeOthers(in: own)
        }
        guard adopt(opened) else { throw .sourceNotFound(name) }
        return opened.revision
    }

    private func checkAttachable(_ image: Revision) throws(SourceError) {
        guard image.options.ttlSeconds == nil else {
            throw .unreadableInput(
                "the image has the option ttlSeconds, by which features go, but an image never changes")
        }
        let own = revision
        guard !own.hasData, own.options.json != SourceOptions().json, own.options.json != image.options.json else {
            return
        }
        throw .unreadableInput(
            "an image has its own options, and the source was created with others: create it without options")
    }

    /// An open file's path, without links; nil if it has none any more.
    private static func path(of file: FileDescriptor) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/fd/\(file.number)", &target, target.count)
        guard count > 0 else { return nil }
        let path = String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return FileIO.exists(path) ? path : nil
    }
}

extension Attachment {
    /// The source with the image's data, for `Source.adopt`. It is in no registry.
    ///
    /// - Parameter file: the image if it is open already; nil to open it.
    /// - Complexity: O(1) for a large image, besides the checksums of its pages.
    func open(
        _ name: SourceName, _ file: FileDescriptor? = nil, shared: SharedState
    ) throws(StateFault) -> Source {
        guard file != nil || FileIO.exists(image) else {
            // It may be put back.
            throw StateFault(FileError.unusable("its image \(image) is missing"))
        }
        let snapshot = try Snapshot(image, file: file, shared: shared)
        let identity = SourceIdentity(name: name, owner: owner, createdAt: createdAt)
        return Source(
            identity, snapshot.revision.renumbered(), updatedAt: Self.modified(image) ?? createdAt, files: nil,
            shared: shared, life: .opening, image: image)
    }

    private static func modified(_ path: String) -> Timestamp? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Timestamp(
            milliseconds: Int64(status.st_mtim.tv_sec) * 1000 + Int64(status.st_mtim.tv_nsec) / 1_000_000)
    }
}
