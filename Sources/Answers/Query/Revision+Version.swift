// SPDX-License-Identifier: MIT
import JSON
import Sources
import SystemSupport

extension Revision {
    /// Writes the members that identify the data of an answer, each after a comma: `revision`, and
    /// `position` if the data follow a table.
    public func writeVersion(into bytes: inout ByteWriter) {
        bytes.append(",\"revision\":")
        bytes.append(integer: Int64(clamping: number))
        guard let position = log?.position else { return }
        bytes.append(",\"position\":")
        bytes.append(json: position.description)
    }
}
