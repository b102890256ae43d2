// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import EventLoop
import JSON

/// Sends archives of tiles and parts of them.
extension Exchange {
    /// The number of bytes read and written at a time, so that a large archive uses little memory.
    private static let pieceSize = 256 << 10

    func answerArchive(_ names: [String]) throws(RequestFailure) {
        try readParameters(head.query, [])
        guard identity.right >= .query else {
            throw RequestFailure(.forbidden, "You have no right to read archives.")
        }
        if server.isDraining {
            throw RequestFailure(.serviceUnavailable, "The server is shutting down. Try again soon.")
        }
        let store = server.service.archives
        let access = server.engine.access.access(of: identity)
        caller.runOnPool {
            let archive = store.open(names)
            guard let access, let archive else { return archive }
            return access.seesArchive(archive.file) ? archive : nil
        } completion: { [weak self] archive in
            guard let self, isServing else { return }
            if let archive {
                serve(archive)
            } else {
                respond(
                    RequestFailure(
                        .notFound,
                        "There is no archive of that name below the directories of --export-dir."))
            }
            channel.goOn()
        }
    }

    /// Whether the request is still to be answered.
    var isServing: Bool { channel.exchange === self && channel.isServing }

    private func serve(_ archive: ServedArchive) {
        let request = head
        switch ArchivePrecondition(request, archive) {
        case .failed(let field):
            return respond(
                RequestFailure(
                    .preconditionFailed,
                    field == .ifMatch
                        ? "The archive is not the one that If-Match names."
                        : "The archive has changed since the date in If-Unmodified-Since."))
        case .notModified:
            return send(notModified(archive.tag, .plain, .none, cacheControl: cacheControl))
        case .none: break
        }
        switch ArchivePrecondition.range(request, archive) {
        case .unsatisfiable:
            var head = ResponseHead(status: .rangeNotSatisfiable, length: .bytes(0), cacheControl: "no-store")
            head.fields = [("Content-Range", "bytes */\(archive.size)")]
            send(head)
        case .part(let range):
            var head = head(of: archive, .partialContent, range.count)
            head.fields.append(("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(archive.size)"))
            send(head, ArchiveRest(archive, range))
        case .whole:
            let head = head(of: archive, .ok, archive.size)
            if request.method == .head { return send(head) }
            send(head, ArchiveRest(archive, 0..<archive.size))
        }
    }

    private func head(of archive: ServedArchive, _ status: HTTPStatus, _ count: Int) -> ResponseHead {
        var head = ResponseHead(
            status: status, length: .bytes(count), mediaType: "application/vnd.pmtiles", etag: archive.tag)
        head.cacheControl = cacheControl
        head.vary = server.rules.vary(.none)
        head.fields = [
            ("Accept-Ranges", "bytes"),
            ("Last-Modified", String(decoding: HTTPDate.text(archive.modified), as: UTF8.self)),
        ]
        return head
    }

    // MARK: Bodies

    /// Writes the head once the first piece has been read, and then piece by piece as the client reads.
    private func send(_ head: ResponseHead, _ rest: ArchiveRest) {
        var rest = rest
        rest.head = head
        archive = rest
        sendPiece()
    }

    /// Reads the next piece on the pool and writes it.
    private func sendPiece() {
        guard let rest = archive, !rest.isReading else { return }
        archive?.isReading = true
        let piece = rest.range.prefix(Self.pieceSize)
        let range = piece.startIndex..<piece.endIndex
        caller.runOnPool {
            rest.archive.read(range).map { bytes in
                var writer = ByteWriter(capacity: bytes.count)
                writer.append(contentsOf: bytes)
                return OutgoingBytes(writer)
            }
        } completion: { [weak self] bytes in
            guard let self, isServing else { return }
            guard let bytes else { return failArchive() }
            write(bytes)
            archive?.isReading = false
            archive?.range = range.upperBound..<rest.range.upperBound
            if range.upperBound == rest.range.upperBound { finishArchive() } else { continueArchive() }
            channel.goOn()
        }
    }

    private func write(_ bytes: OutgoingBytes) {
        if var head = archive?.head {
            complete(&head, closes: false)
            channel.write(head)
            server.record(head.status, archive?.range.count ?? 0, of: self.head, from: channel)
            archive?.closes = head.closes
            archive?.head = nil
        }
        bytes.writer.withBytes { channel.write($0, keeping: bytes) }
    }

    /// Everything before has been written: sends the next piece.
    package func continueArchive() {
        guard archive != nil, channel.queuedBytes == 0, isServing else { return }
        sendPiece()
    }

    private func finishArchive() {
        let closes = archive?.closes == true
        archive = nil
        isAnswered = true
        channel.finishBody()
        if closes || server.isDraining { channel.end() }
    }

    /// The file cannot be read. If the body has begun, it can only be cut off.
    private func failArchive() {
        let hasBegun = archive?.head == nil
        archive = nil
        if hasBegun { return channel.close() }
        respond(RequestFailure(.internalServerError, "The archive could not be read. Try again."))
        channel.goOn()
    }
}
