// SPDX-License-Identifier: MIT
import JSON

extension ByteWriter {
    /// What has been written, as text.
    var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}
