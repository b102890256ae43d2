// SPDX-License-Identifier: MIT
import Glibc

/// Looks up the system's users and groups.
///
/// Invariant: the buffer for an entry's texts is used only within the call that lends it; only a number is
/// returned.
enum AccountNames {
    /// A user's number; nil if there is none of that name.
    static func user(_ name: String) -> UInt32? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withRoom { room, count in
            getpwnam_r(name, &entry, room, count, &found)
        } ? found.map { $0.pointee.pw_uid } : nil
    }

    /// A group's number; nil if there is none of that name.
    static func group(_ name: String) -> UInt32? {
        var entry = Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        return withRoom { room, count in
            getgrnam_r(name, &entry, room, count, &found)
        } ? found.map { $0.pointee.gr_gid } : nil
    }

    /// Calls `look` with increasing room for an entry's texts until they fit; returns whether that succeeded.
    private static func withRoom(_ look: (UnsafeMutablePointer<CChar>, Int) -> Int32) -> Bool {
        var count = 4096
        while count <= 1 << 20 {
            let status = withUnsafeTemporaryAllocation(of: CChar.self, capacity: count) { room in
                room.baseAddress.map { look($0, room.count) } ?? ENOMEM
            }
            if status != ERANGE { return status == 0 }
            count *= 4
        }
        return false
    }
}
