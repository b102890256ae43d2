// SPDX-License-Identifier: MIT
import ClusterProtocol
import Testing

@testable import RPC

@Suite("Access policy") struct AccessPolicyTests {
    private func peer(_ user: UInt32, _ group: UInt32 = 900, _ groups: [UInt32] = []) -> Peer {
        Peer(processID: 1, userID: user, groupID: group, groups: groups)
    }

    @Test("by default the daemon's own user and root may do everything, and others may query")
    func byDefaultTheOwnUserAndRootMayDoAllAndOthersQuery() {
        let policy = AccessPolicy(ownUser: 77)
        #expect(policy.right(of: peer(77)) == .admin)
        #expect(policy.right(of: peer(0)) == .admin)
        #expect(policy.right(of: peer(78)) == .query)
        #expect(policy.right(of: .unknown) == .query)
    }

    @Test("rules name users, their primary group and their supplementary groups")
    func rulesNameUsersPrimaryAndFurtherGroups() {
        var policy = AccessPolicy(ownUser: 77)
        policy.query = AccessPolicy.Rule(users: [5])
        policy.manage = AccessPolicy.Rule(users: [6], groups: [30])
        policy.admin = AccessPolicy.Rule(groups: [40])
        #expect(policy.right(of: peer(5)) == .query)
        #expect(policy.right(of: peer(6)) == .manage)
        #expect(policy.right(of: peer(7, 30)) == .manage)
        #expect(policy.right(of: peer(7, 31, [1, 30])) == .manage)
        #expect(policy.right(of: peer(7, 40)) == .admin)
        #expect(policy.right(of: peer(7, 41)) == .none)
        #expect(policy.right(of: .unknown) == .none)
    }

    @Test("a process without credentials is not an administrator")
    func aProcessThatTheSystemDoesNotNameIsNoAdministrator() {
        #expect(AccessPolicy(ownUser: .max).right(of: .unknown) == .query)
    }

    @Test("methods that change sources require the right to manage, and all others except Check the right to query")
    func everyMethodAsksForARight() {
        for method in MethodDeclaration.all {
            let right: AccessRight = method.threads == .change ? .manage : .query
            #expect(method.right == (method.name == "Check" ? .none : right), "\(method.name)")
        }
    }

    @Test("only the exact names of rights are accepted") func aRightIsKnownByItsNameOnly() {
        for right in AccessRight.allCases { #expect(AccessRight(name: right.name) == right) }
        for name in ["", "Query", "root", "admin "] { #expect(AccessRight(name: name) == nil) }
    }

    @Test("a denial says which right is missing") func aDenialSaysWhichRightIsMissing() {
        let user = Peer(processID: 1, userID: 1000, groupID: 1000)
        for (peer, member) in [
            (user, "access.manage"), (.remote("127.0.0.1:5", rightMember: "http.right"), "http.right"),
        ] {
            let error = peer.denial(of: .createSource)
            #expect(error.code == .permissionDenied)
            #expect(error.message.hasPrefix("SourceService/CreateSource needs the right \"manage\""))
            #expect(error.message.hasSuffix("under \(member)."))
            #expect(error.details?["right"] == .string("manage"))
        }
    }

    @Test("users are forgotten with their last connection") func usersAreForgottenWithTheirLastConnection() throws {
        let table = UserTable()
        let first = try #require(table.enter(.user(5)))
        let second = try #require(table.enter(.user(5), most: 2))
        #expect(table.enter(.user(5), most: 2) == nil)
        #expect(first === second)
        #expect(table.connections(of: .user(5)) == 2)
        table.leave(first)
        #expect(table.connections(of: .user(5)) == 1)
        table.leave(second)
        #expect(table.connections(of: .user(5)) == 0)
        #expect(table.enter(.user(5)) !== first)
    }
}
