// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// The envelope: what is read, written and read again is the same message.
final class EnvelopeTarget: FuzzTarget {
    private let parser = JSONParser()

    func take(_ input: UnsafeRawBufferPointer) {
        guard let message = read(input) else { return }
        var bytes = ByteWriter()
        message.write(into: &bytes)
        let again = bytes.withUnsafeBytes { frame in
            read(UnsafeRawBufferPointer(rebasing: frame.dropFirst(MessageLimits.prefixLength)))
        }
        guard let again, again.id == message.id else { violated("what was written can be read") }
        if case .open(let first) = message, case .open(let second) = again {
            if first.params != second.params || !first.method.utf8.elementsEqual(second.method.utf8) {
                violated("a call changes when it is written and read")
            }
        }
    }

    private func read(_ text: UnsafeRawBufferPointer) -> ClientMessage? {
        do throws(EnvelopeError) { return try ClientMessage.read(Array(text).span, parser: parser) } catch {
            if let id = error.id, id < 1 || id > ClientMessage.maximumID { violated("an error names an id that is out of range") }
            return nil
        }
    }
}
