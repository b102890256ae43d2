// SPDX-License-Identifier: MIT
import Glibc
import ImageStore
import JSON
import SystemSupport

/// A source whose data are an image that others made, such as `clusterctl build`: a file anywhere, which is read and never
/// written or removed.
///
/// In the state directory, the source's directory has a file of this name instead of snapshots and journals.
package struct Attachment: Sendable {
    package static let fileName = "attachment.json"

    /// The image's path, absolute and without links.
    package let image: String
    package let owner: UInt32?
    package let createdAt: Timestamp

    init(image: String, owner: UInt32?, createdAt: Timestamp) {
        (self.image, self.owner, self.createdAt) = (image, owner, createdAt)
    }

    /// What a source's directory says; nil if the source has no image of others.
    package init?(in directory: String) throws(StateFault) {
        let path = directory + "/" + Self.fileName
        guard FileIO.exists(path) else { return nil }
        let text: [UInt8]
        do throws(FileError) { text = try FileIO.contents(of: path) } catch { throw StateFault(error) }
        guard case .object(let object)? = try? JSONReader.parse(text), case .string(let image)? = object["image"],
            case .number(let created)? = object["createdAt"], let createdAt = Int64(exactly: created)
        else { throw StateFault("\(path) does not name an image") }
        var owner: UInt32?
        if case .number(let number)? = object["owner"] { owner = UInt32(exactly: number) }
        self.init(image: image, owner: owner, createdAt: Timestamp(milliseconds: createdAt))
    }

    /// Writes the file, synced on return: from then on it is in effect.
    func store(in directory: String) throws(FileError) {
        var object: JSONObject = [
            "image": .string(image), "createdAt": .number(Double(createdAt.milliseconds)),
        ]
        object["owner"] = owner.map { .number(Double($0)) }
        var text = ByteWriter()
        text.append(.object(object))
        let (path, new) = ("\(directory)/\(Self.fileName)", "\(directory)/\(SourceFiles.temporaryPrefix)attachment")
        let file = try FileIO.create(new)
        try FileIO.write(text.bytes, to: file, at: 0, path: new)
        try FileIO.sync(file, path: new)
        try FileIO.rename(new, to: path)
        try FileIO.syncDirectory(directory)
    }

    /// Removes the files of the source's data before.
    static func removeOthers(in directory: String) {
        for name in (try? FileIO.names(in: directory)) ?? [] where name != fileName {
            FileIO.remove(directory + "/" + name)
        }
    }

    /// Whether an open file begins as an image does.
    package static func isImage(_ file: FileDescriptor) -> Bool {
        var start = [UInt8](repeating: 0, count: SectionFile.magic.count)
        return pread(file.number, &start, start.count, 0) == start.count && start == SectionFile.magic
    }
}
