// SPDX-License-Identifier: MIT
import ClusterProtocol
import Glibc

/// Who may do what, by the user and the groups of the client process.
///
/// The daemon's own user and root have all rights. Others have what the rules grant.
public struct AccessPolicy: Sendable, Equatable {
    /// Users and groups that have a right.
    public struct Rule: Sendable, Equatable {
        /// Everybody who can open the socket.
        public var everybody: Bool
        public var users: Set<UInt32>
        public var groups: Set<UInt32>
        /// Configured names of users and groups that do not exist on this system. They grant nobody a right.
        public var unknownNames: [String] = []

        public init(everybody: Bool = false, users: Set<UInt32> = [], groups: Set<UInt32> = []) {
            self.everybody = everybody
            self.users = users
            self.groups = groups
        }

        func admits(_ peer: Peer) -> Bool {
            if everybody || users.contains(peer.userID) || groups.contains(peer.groupID) { return true }
            return !groups.isEmpty && peer.groups.contains(where: groups.contains)
        }
    }

    public var query = Rule(everybody: true)
    public var manage = Rule()
    public var admin = Rule()
    /// What callers see of sources; the first rule that matches caller and source applies.
    public var rules: [AccessRule] = []
    /// Configured names that do not exist on this system.
    public var unknownNames: [String] {
        rules.reduce(ofRights) { $0 + $1.callers.unknownNames }
    }
    private var ofRights: [String] { query.unknownNames + manage.unknownNames + admin.unknownNames }
    /// The user that the daemon runs as.
    let ownUser: UInt32

    /// The default rules.
    public init(ownUser: UInt32 = geteuid()) { self.ownUser = ownUser }

    /// What a caller sees of each source; nil if that is everything.
    package func access(of caller: Identity) -> SourceAccess? { SourceAccess(rules, of: caller) }

    /// The highest right that the rules grant a caller. A caller of unknown user has the right of everybody.
    public func right(of peer: Peer) -> AccessRight {
        if peer.hasUser, peer.userID == 0 || peer.userID == ownUser || admin.admits(peer) {
            return .admin
        }
        if manage.admits(peer) { return .manage }
        return query.admits(peer) ? .query : .none
    }
}
