// SPDX-License-Identifier: MIT
import Glibc

/// Looks up the system's users and groups.
enum AccountNames {
    /// A user's number; nil if there is none of that name.
    static func user(_ name: String) -> UInt32? {
        find(passwd()) { getpwnam_r(name, &$0, &$1, $2, &$3) }?.pw_uid
    }

    /// A group's number; nil if there is none of that name.
    static func group(_ name: String) -> UInt32? {
        find(Glibc.group()) { getgrnam_r(name, &$0, &$1, $2, &$3) }?.gr_gid
    }

    /// The entry that `look` fills in, called with more room for the entry's texts until they fit.
    private static func find<Entry, Found>(
        _ empty: Entry, _ look: (inout Entry, inout [CChar], _ count: Int, inout Found?) -> Int32
    ) -> Entry? {
        var (entry, found) = (empty, Found?.none)
        var count = 4096
        while count <= 1 << 20 {
            var room = [CChar](repeating: 0, count: count)
            let status = look(&entry, &room, count, &found)
            if status != ERANGE { return status == 0 && found != nil ? entry : nil }
            count *= 4
        }
        return nil
    }
}
