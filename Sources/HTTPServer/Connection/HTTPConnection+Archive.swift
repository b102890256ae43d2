// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import EventLoop
import JSON

/// Sends archives of tiles and parts of them.
extension HTTPConnection {
    /// The number of bytes read and written at a time, so that a large archive uses little memory.
    private static let pieceSize = 256 << 10

    func answerArchive(_ names: [String]) throws(RequestFailure) {
        try readParameters(exchange?.head.query, [])
        guard caller.right >= .query else {
            throw RequestFailure(.forbidden, "You have no right to read archives.")
        }
        if server.isDraining {
            throw RequestFailure(.serviceUnavailable, "The server is shutting down. Try again soon.")
        }
        let store = server.service.archives
        caller.runOnPool {
            store.open(names)
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
            goOn()
        }
    }

    /// Whether the request is still to be answered.
    var isServing: Bool { !isClosed && !isEnding && exchange?.isAnswered == false }

    private func serve(_ archive: ServedArchive) {
        guard let request = exchange?.head else { return }
        switch ArchivePrecondition(request, archive) {
        case .failed(let field):
            return respond(
                RequestFailure(
                    .preconditionFailed,
                    field == .ifMatch
                        ? "The archive is not the one that If-Match names."
                        : "The archive has changed since the date in If-Unmodified-Since."))
        case .notModified:
            return send(notModified(archive.tag, .plain, .none, cacheControl: server.rules.cacheControl))
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
        head.cacheControl = server.rules.cacheControl
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
        exchange?.archive = rest
        sendPiece()
    }

    /// Reads the next piece on the pool and writes it.
    private func sendPiece() {
        guard let rest = exchange?.archive, !rest.isReading else { return }
        exchange?.archive?.isReading = true
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
            exchange?.archive?.isReading = false
            exchange?.archive?.range = range.upperBound..<rest.range.upperBound
            if range.upperBound == rest.range.upperBound { finishArchive() } else { continueArchive() }
            goOn()
        }
    }

    private func write(_ bytes: OutgoingBytes) {
        if var head = exchange?.archive?.head {
            complete(&head, closes: false)
            head.write(into: &server.output, date: server.dateText)
            record(head.status, exchange?.archive?.range.count ?? 0)
            exchange?.archive?.closes = head.closes
            exchange?.archive?.head = nil
        }
        bytes.writer.withBytes { write($0, keeping: bytes) }
    }

    /// Everything before has been written: sends the next piece.
    func continueArchive() {
        guard exchange?.archive != nil, socket.queuedBytes == 0, isServing else { return }
        sendPiece()
    }

    private func finishArchive() {
        let closes = exchange?.archive?.closes == true
        exchange?.archive = nil
        exchange?.isAnswered = true
        if closes || server.isDraining { end() }
    }

    /// The file cannot be read. If the body has begun, it can only be cut off.
    private func failArchive() {
        let hasBegun = exchange?.archive?.head == nil
        exchange?.archive = nil
        if hasBegun { return close() }
        respond(RequestFailure(.internalServerError, "The archive could not be read. Try again."))
        goOn()
    }
}
