// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import RPC

@Suite("Unread answers") struct UnreadBudgetTests {
    @Test("a user whose clients read does not wait for another user's unread answers") func sharesAreSeparate() {
        let budget = UnreadBudget(limit: 1000)
        let (greedy, honest) = (UnreadAccount(UserShare(.user(1))), UnreadAccount(UserShare(.user(2))))
        var claims = (0..<20).map { _ in UnreadBudget.Claim(100, of: greedy, in: budget) }
        #expect(budget.bytes == 2000)
        #expect(budget.isSpent)
        #expect(budget.isSpent(for: greedy))
        #expect(!budget.isSpent(for: honest))
        // What has a part of its own has an end too.
        let part = UnreadBudget.Claim(300, of: honest, in: budget)
        #expect(budget.isSpent(for: honest))
        // Otherwise an optimized build may free them before.
        withExtendedLifetime(claims) {}
        claims.removeAll()
        #expect(!budget.isSpent(for: honest))
        #expect(!budget.isSpent(for: greedy))
        #expect(budget.bytes == 300)
        withExtendedLifetime(part) {}
    }

    private static let quarter = Limits().maxQueuedBytes / 4

    @Test(
        "a user who leaves large answers untouched has one query at a time; another user, and one who reads, have more"
    )
    func oneAtATime() {
        let load = ServerLoad(limits: Limits())
        let (greedy, honest) = (UnreadAccount(UserShare(.user(1))), UnreadAccount(UserShare(.user(2))))
        let claim = UnreadBudget.Claim(Self.quarter, of: greedy, in: load.unread)
        var started: [String] = []
        func run(_ name: String, of share: UnreadAccount) -> PoolQueue.JobQueue {
            let jobQueue = PoolQueue.JobQueue(share) { $0() }
            load.queries.run(in: jobQueue) { started.append(name) }
            return jobQueue
        }
        let first = run("a", of: greedy)
        for name in ["b", "c", "d"] { _ = run(name, of: greedy) }
        #expect(started == ["a"])
        for name in ["1", "2"] { _ = run(name, of: honest) }
        #expect(started == ["a", "1", "2"])
        load.queries.finished(in: first)
        #expect(started == ["a", "1", "2", "b"])
        // The next query starts as soon as the client begins to read, without a query's end.
        claim.touch()
        #expect(started == ["a", "1", "2", "b", "c"])
        #expect(greedy.share[.untouched] == 0)
        #expect(greedy.share[.unread] == Self.quarter)
    }

    @Test("an answer that is released makes room at once, whether it was begun or not", arguments: [false, true])
    func released(_ isBegun: Bool) {
        let load = ServerLoad(limits: Limits())
        let share = UserShare(.user(1))
        let connection = UnreadAccount(share)
        var claims = [UnreadBudget.Claim(4 * Self.quarter, of: connection, in: load.unread)]
        var started = 0
        load.queries.run(in: PoolQueue.JobQueue(connection) { $0() }) { started += 1 }
        if isBegun { claims[0].touch() }
        #expect(started == 0)
        claims.removeAll()
        #expect(started == 1)
        #expect(load.unread.bytes == 0)
        #expect(share[.unread] == 0)
        #expect(share[.untouched] == 0)
    }

    private final class Text {
        let bytes: [UInt8]
        init(_ count: Int) { bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 251) } }
    }

    @Test("bytes are passed in order, and count as begun once the first part is released", arguments: [-1, 0, 1, 1000])
    func parts(_ more: Int) {
        let budget = UnreadBudget(limit: 1 << 30)
        let share = UserShare(.user(1))
        let text = Text(UnreadBudget.firstPart + more)
        var passed: [UInt8] = []
        var owners: [AnyObject] = []
        let bytes = text.bytes
        budget.pass(bytes.span, keeping: text, for: UnreadAccount(share)) { part, owner in
            passed.append(contentsOf: part.bytes)
            owners.append(owner)
        }
        #expect(passed == text.bytes)
        #expect(owners.count == (more > 0 ? 2 : 1))
        #expect(share[.unread] == passed.count)
        #expect(share[.untouched] == passed.count)
        owners.removeFirst()
        #expect(share[.unread] == (more > 0 ? passed.count : 0))
        #expect(share[.untouched] == 0)
        owners.removeAll()
        #expect(share[.unread] == 0)
        #expect(share[.untouched] == 0)
        #expect(budget.bytes == 0)
    }

    @Test("an answer counts as a whole until all of it is accepted") func wholeAnswer() {
        let budget = UnreadBudget(limit: 1 << 30)
        let share = UserShare(.user(1))
        let text = Text(1000)
        var owners: [AnyObject] = []
        let bytes = text.bytes
        budget.pass(
            bytes.span.extracting(900...), keeping: text, of: 1000, for: UnreadAccount(share)
        ) { owners.append($1) }
        #expect(share[.unread] == 1000)
        owners.removeAll()
        #expect(share[.unread] == 0)
        #expect(budget.bytes == 0)
    }

    @Test("memory is returned to the system after each 64 MiB of freed params, and after the last of them")
    func memoryIsGivenBack() {
        let (load, share) = (ServerLoad(limits: Limits()), UserShare(.user(1)))
        load.input.add(33 * 6 << 20, of: share)
        func end(_ bytes: Int) -> Bool {
            load.input.add(-bytes, of: share)
            return load.hasFreedMuch(adding: bytes)
        }
        let given = (1...33).filter { _ in end(6 << 20) }
        #expect(given == [11, 22, 33])
        load.input.add(13 << 20, of: share)
        #expect(!end(4 << 20))
        #expect(end(9 << 20))
        load.input.add(1000 << 19, of: share)
        #expect((1...1000).allSatisfy { _ in !end(1 << 19) })
    }

    @Test("a user's jobs start while those of a user with unread answers wait") func jobsStart() {
        let load = ServerLoad(limits: Limits())
        let (greedy, honest) = (UnreadAccount(UserShare(.user(1))), UnreadAccount(UserShare(.user(2))))
        let claim = UnreadBudget.Claim(Limits().maxQueuedBytes, of: greedy, in: load.unread)
        var started: [String] = []
        load.queries.run(in: PoolQueue.JobQueue(greedy) { $0() }) { started.append("greedy") }
        load.queries.run(in: PoolQueue.JobQueue(honest) { $0() }) { started.append("honest") }
        #expect(started == ["honest"])
        withExtendedLifetime(claim) {}
    }

    /// A connection whose client has read an answer.
    private func reader(_ share: UserShare) -> UnreadAccount {
        let connection = UnreadAccount(share)
        connection.wasAccepted(UnreadBudget.reserve)
        return connection
    }

    @Test(
        "a connection that reads, and a new one, go on beside others of their user that do not read; these wait"
    )
    func connectionsComeFirst() {
        let load = ServerLoad(limits: Limits())
        let share = UserShare(.user(1))
        let silent = UnreadAccount(share)
        let claims = [UnreadBudget.Claim(4 * Self.quarter, of: silent, in: load.unread)]
        var started: [String] = []
        func jobQueue(_ connection: UnreadAccount) -> PoolQueue.JobQueue { PoolQueue.JobQueue(connection) { $0() } }
        func run(_ name: String, in jobQueue: PoolQueue.JobQueue) {
            load.queries.run(in: jobQueue) {
                started.append(name)
                load.queries.finished(in: jobQueue)
            }
        }
        let (honest, new) = (jobQueue(reader(share)), UnreadAccount(share))
        run("silent", in: jobQueue(silent))
        run("new", in: jobQueue(new))
        run("honest", in: honest)
        #expect(started == ["new", "honest"])
        // An answer of the new one was larger than a view.
        new.exceededView()
        run("large", in: jobQueue(new))
        // Half of what is beyond the limit is for those that read.
        let more = [UnreadBudget.Claim(Self.quarter / 2, of: silent, in: load.unread)]
        run("late", in: jobQueue(UnreadAccount(share)))
        run("honest", in: honest)
        #expect(started == ["new", "honest", "honest"])
        // What such connections leave unread beyond the limit has an end too.
        let most = [UnreadBudget.Claim(Self.quarter / 2, of: silent, in: load.unread)]
        run("more", in: honest)
        #expect(started == ["new", "honest", "honest"])
        withExtendedLifetime(most) {}
        withExtendedLifetime(more) {}
        withExtendedLifetime(claims) {}
    }

    @Test("a new connection's next answer is tried as soon as its client has read the one before")
    func readingMakesRoom() {
        let load = ServerLoad(limits: Limits())
        let share = UserShare(.user(1))
        let claim = UnreadBudget.Claim(4 * Self.quarter, of: UnreadAccount(share), in: load.unread)
        let new = UnreadAccount(share)
        var own = [UnreadBudget.Claim(1, of: new, in: load.unread)]
        var started = 0
        load.queries.run(in: PoolQueue.JobQueue(new) { $0() }) { started += 1 }
        withExtendedLifetime(own) { #expect(started == 0) }
        own.removeAll()
        #expect(started == 1)
        withExtendedLifetime(claim) {}
    }

    @Test("a client that has read everything gets a view at once, if others leave no more than an eighth too much")
    func allowance() {
        let budget = UnreadBudget(limit: 1000)
        let share = UserShare(.user(1))
        let (new, silent) = (UnreadAccount(share), UnreadAccount(share))
        let claims = [UnreadBudget.Claim(1000, of: silent, in: budget)]
        #expect(budget.isSpent(for: new))
        #expect(budget.allowance(of: new) == 512 << 10)
        #expect(budget.allowance(of: silent) == UnreadBudget.reserve)
        new.exceededView()
        #expect(budget.allowance(of: new) == UnreadBudget.reserve)
        new.wasAccepted(1)
        #expect(budget.allowance(of: new) == 512 << 10)
        let more = [UnreadBudget.Claim(125, of: silent, in: budget)]
        #expect(budget.allowance(of: new) == UnreadBudget.reserve)
        withExtendedLifetime(claims) {}
        withExtendedLifetime(more) {}
    }

    @Test(
        "connections that read have several queries at once, also beside answers of their user that nobody has begun to read"
    )
    func readersAreNotHeld() {
        let load = ServerLoad(limits: Limits())
        let share = UserShare(.user(1))
        let claim = UnreadBudget.Claim(Self.quarter, of: UnreadAccount(share), in: load.unread)
        var started = 0
        for _ in 0..<2 { load.queries.run(in: PoolQueue.JobQueue(reader(share)) { $0() }) { started += 1 } }
        #expect(started == 2)
        withExtendedLifetime(claim) {}
    }

    @Test("a client reads promptly once it has read an answer, until it lets one wait") func promptness() {
        let budget = UnreadBudget(limit: 1000)
        let connection = UnreadAccount(UserShare(.user(1)))
        #expect(!connection.readsPromptly(at: 0))
        var claims = [UnreadBudget.Claim(UnreadBudget.reserve, of: connection, in: budget)]
        withExtendedLifetime(claims) { #expect(!connection.readsPromptly) }
        claims.removeAll()
        #expect(connection.readsPromptly)
        claims = [UnreadBudget.Claim(1, of: connection, in: budget)]
        let now = MonotonicClock.now()
        #expect(connection.readsPromptly(at: now))
        #expect(!connection.readsPromptly(at: now + UnreadAccount.patience + 1))
        withExtendedLifetime(claims) {}
    }
}
