// SPDX-License-Identifier: MIT
import Glibc

/// Looks up the system's users and groups.
package enum AccountNames {
    /// A user's number; nil if there is none of that name.
    package static func user(_ name: String) -> UInt32? {
        find(passwd()) {
            getpwnam_r(name, &$0, &$1, $2, &$3)
        } read: {
            $0.pw_uid
        }
    }

    /// A group's number; nil if there is none of that name.
    package static func group(_ name: String) -> UInt32? {
        find(Glibc.group()) {
            getgrnam_r(name, &$0, &$1, $2, &$3)
        } read: {
            $0.gr_gid
        }
    }

    /// A user's name; nil if there is none of that number.
    static func name(ofUser number: UInt32) -> String? {
        find(passwd()) {
            getpwuid_r(number, &$0, &$1, $2, &$3)
        } read: {
            $0.pw_name.map { String(cString: $0) }
        } ?? nil
    }

    /// A group's name; nil if there is none of that number.
    static func name(ofGroup number: UInt32) -> String? {
        find(Glibc.group()) {
            getgrgid_r(number, &$0, &$1, $2, &$3)
        } read: {
            $0.gr_name.map { String(cString: $0) }
        } ?? nil
    }

    /// Reads the entry that `look` fills in, called with more room for the entry's texts until they fit.
    private static func find<Entry, Found, Value>(
        _ empty: Entry, _ look: (inout Entry, inout [CChar], _ count: Int, inout Found?) -> Int32,
        read: (Entry) -> Value
    ) -> Value? {
        var (entry, found) = (empty, Found?.none)
        var count = 4096
        while count <= 1 << 20 {
            var room = [CChar](repeating: 0, count: count)
            let status = look(&entry, &room, count, &found)
            if status != ERANGE {
                return status == 0 && found != nil ? withExtendedLifetime(room) { read(entry) } : nil
            }
            count *= 4
        }
        return nil
    }
}
