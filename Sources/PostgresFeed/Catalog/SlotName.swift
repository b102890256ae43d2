// SPDX-License-Identifier: MIT
import Glibc

/// Makes and checks names of replication slots: lower-case letters, digits and underscores, at most 63 bytes.
public enum SlotName {
    /// The machine's id (machine-id(5)); if it has none, a number derived from its host name.
    public static let machineID: String = {
        for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            guard let file = fopen(path, "r") else { continue }
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = fread(&bytes, 1, bytes.count, file)
            let text = String(decoding: bytes.prefix(count), as: UTF8.self).prefix { $0.isHexDigit }
            if text.count >= 8 { return text.lowercased() }
        }
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        return hash(
            String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self), digits: 16
        )
    }()

    /// The default name of a source's slot: the same after every start, and different for each machine, state
    /// directory and source.
    ///
    /// - Parameters:
    ///   - label: a part that people recognise; characters that a slot's name cannot contain become
    ///     underscores.
    ///   - scope: a text that distinguishes slots of one machine.
    public static func standard(machine: String, label: String, scope: String) -> String {
        let readable = label.lowercased().utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
            default: UInt8(ascii: "_")
            }
        }
        let name = "clusterd_\(machine.prefix(32))_" + String(decoding: readable.prefix(14), as: UTF8.self)
        return name + "_" + hash(label + "\0" + scope, digits: 6)
    }

    /// Whether a server accepts the name.
    public static func isValid(_ name: String) -> Bool {
        (1...63).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
            }
    }

    /// The last digits of the FNV-1a hash (64 bits) of a text.
    private static func hash(_ text: String, digits: Int) -> String {
        var value: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let text = String(value, radix: 16)
        return String((String(repeating: "0", count: 16 - text.count) + text).suffix(digits))
    }
}
