// SPDX-License-Identifier: MIT

/// What one user's connections take of the server together. Belongs to the loop's thread.
final class UserUse {
    let userID: UInt32
    var connections = 0
    var calls = 0

    init(userID: UInt32) { self.userID = userID }
}

/// The use of every user who has a connection open. Belongs to the loop's thread.
struct UserTable {
    private var uses: [UInt32: UserUse] = [:]

    /// Counts a connection in.
    mutating func enter(_ userID: UInt32) -> UserUse {
        let use = uses[userID] ?? UserUse(userID: userID)
        uses[userID] = use
        use.connections += 1
        return use
    }

    /// Counts a connection out; users without any are forgotten.
    mutating func leave(_ use: UserUse) {
        use.connections -= 1
        if use.connections == 0 { uses[use.userID] = nil }
    }

    func connections(of userID: UInt32) -> Int { uses[userID]?.connections ?? 0 }
}
