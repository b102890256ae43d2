// SPDX-License-Identifier: MIT
import Responses
import RPC
import ClusterProtocol
import EventLoop
import Glibc
import HTTPServer
import JSON
import SourceEngine
import Synchronization
import SystemSupport

/// The daemon as a whole: its loops, servers and signals. `run` returns when it has ended.
public final class Daemon {
    /// The program's version, as `GetServerInfo` reports it.
    public static let version = Release.version

    private var configuration: Configuration
    private let rereading: Rereading
    private let log: Log
    private let loop: EventLoop
    private let servers: ServerGroup
    private let sources: SourceSet
    private let filler: SourceFiller
    private let followers: TableFollowers
    private let serverStatus: ServerStatus
    /// Sockets handed over by the service manager.
    private let handedOver: [Systemd.HandedSocket]
    private let http: HTTPService
    private var signals: [SignalWatcher] = []
    private var watchdog: Watchdog?
    private var expiry: SourceExpiry?
    private let status: StatusReport
    /// Nil once sources have been read after the start, or waiting for that has ended.
    private var startWait: StartWait?
    /// Whether a reload was asked for meanwhile.
    private var isReloadDue = false

    /// Reads the configuration again, from flags and file.
    public typealias Rereading = () throws(Configuration.Problem) -> Configuration

    /// Why the daemon cannot serve, in words for a person.
    public struct Problem: Error, Sendable, CustomStringConvertible { public let description: String }

    /// - Parameter rereading: returns the current configuration, for reloads.
    public init(_ configuration: Configuration, rereading: @escaping Rereading) throws(Problem) {
        self.configuration = configuration
        self.rereading = rereading
        Self.holdSignals()
        handedOver = Systemd.listenSockets()
        log = Log(configuration.log)
        loop = try Self.explained { () throws(EventLoopError) in try EventLoop() }
        http = HTTPService(configuration.http)
        let metrics = Metrics(transports: http.metrics)
        serverStatus = ServerStatus(metrics: metrics)
        sources = SourceSet(
            configuration: configuration, directory: try Self.stateDirectory(configuration),
            status: serverStatus, log: log)
        servers = try Self.explained { [loop, sources, http] () throws(EventLoopError) in
            try ServerGroup(
                loop: loop, limits: configuration.limits, access: configuration.access, metrics: metrics,
                methods: sources.methods, http: http, health: SourceHealth(registry: sources.registry))
        }
        servers.observe(CallLog(log, configuration.log))
        filler = SourceFiller(
            loop: loop, registry: sources.registry, log: log, threads: configuration.limits.buildThreads)
        followers = TableFollowers(
            loop: loop, registry: sources.registry, log: log, threads: configuration.limits.buildThreads,
            stateDirectory: configuration.stateDirectory ?? Systemd.stateDirectory)
        status = StatusReport(loop: loop, registry: sources.registry)
    }

    /// Serves until a signal ends the daemon.
    public func run() throws(Problem) {
        signal(SIGPIPE, SIG_IGN)
        // With the signal ignored, a file that reaches its maximum size fails the call instead of ending the daemon.
        signal(SIGXFSZ, SIG_IGN)
        Self.ignoreStraySignals()
        Allocator.giveBackBlocks(from: 1 << 20)
        if SystemMemory.process.hasAddressLimit { Allocator.shareArenas() }
        let memory = [SystemMemory.process.use?.limit, SystemMemory.process.available].compactMap { $0 }
        KeptBlocks.process.keep(upTo: min(Self.keptBytes, (memory.min() ?? 0) / 16))
        servers.descriptorRoom = Self.raiseDescriptorLimit()
        // A few more threads than all queues use, for work that no queue counts. libuv reads the variable at
        // its first job.
        let limits = configuration.limits
        let threads = ServerLoad.poolThreads(limits) + Self.uncountedThreads
        setenv("UV_THREADPOOL_SIZE", String(min(threads, 1024)), 0)
        let (recovery, began) = (try beginRecovery(), MonotonicClock.now())
        try listen()
        servers.pauseAccepting()
        try Self.explained { () throws(EventLoopError) in
            for number in [SIGTERM, SIGINT] {
                signals.append(try SignalWatcher(on: loop, signal: number) { [weak self] in self?.stop(number) })
            }
            signals.append(try SignalWatcher(on: loop, signal: SIGHUP) { [weak self] in self?.reload() })
        }
        Self.releaseSignals()
        if let interval = Systemd.watchdogInterval() {
            watchdog = Watchdog(loop: loop, servers: servers, interval: interval) { Systemd.notify("WATCHDOG=1") }
        }
        let wait = StartWait(recovery, on: loop, seconds: configuration.limits.startSeconds) { [weak self] in
            self?.begin(recovery, since: began)
        }
        startWait = wait
        status.loading { wait.text }
        EventLoop.takePrecedence()
        loop.run()
        log.flush(milliseconds: 200)
    }

    /// Begins to answer as soon as the declared sources have data, except those that are still being read;
    /// until then clients wait in the listening socket's queue.
    private func begin(_ recovery: SourceRecovery, since start: UInt64) {
        startWait = nil
        report(recovery, since: start)
        recovery.serve()
        expiry = SourceExpiry(loop: loop, registry: sources.registry)
        warnOfUnknownNames(configuration.access)
        filler.onRead = { [weak self] in
            guard let self else { return }
            self.followers.apply(self.configuration.sources)
        }
        filler.apply(configuration.sources)
        followers.apply(configuration.sources)
        if filler.isFillingEmpty {
            status.loading { "Loading the declared sources" }
            filler.onIdle = { [weak self] in
                self?.filler.onIdle = nil
                self?.serve()
            }
        } else {
            serve()
        }
        if isReloadDue { reload() }
    }

    private func serve() {
        guard serverStatus.isServing else { return }
        servers.resumeAccepting()
        status.ready()
    }

    /// Locks and returns the configured directory, or else the service manager's.
    private static func stateDirectory(_ configuration: Configuration) throws(Problem) -> StateDirectory? {
        guard let path = configuration.stateDirectory ?? Systemd.stateDirectory else { return nil }
        return try explained { () throws(StateDirectory.Problem) in try StateDirectory(path) }
    }

    private func beginRecovery() throws(Problem) -> SourceRecovery {
        try Self.explained { () throws(SourceError) in try sources.registry.beginRecovery() }
    }

    private func report(_ recovery: SourceRecovery, since start: UInt64) {
        let count = sources.registry.all.count
        guard count > 0 else { return }
        let milliseconds = (MonotonicClock.now() - start) / 1_000_000
        log.write(
            .info, "recovering sources from the state directory",
            ["sources": .number(Double(count)), "ms": .number(Double(milliseconds))])
        let unread = recovery.unread
        guard !unread.isEmpty else { return }
        log.write(
            .warning, "sources are still being read, and calls on them wait: \(StartWait.list(unread.map(\.text)))",
            ["sources": .number(Double(unread.count))])
    }

    private func listen() throws(Problem) {
        let own = handedOver.filter { !$0.isHTTP }
        for socket in own {
            try Self.explained { () throws(EventLoopError) in
                _ = try servers.listen(for: .socket, descriptor: socket.descriptor)
            }
        }
        try listenForHTTP()
        if !handedOver.isEmpty {
            log.write(.info, "listening on \(handedOver.count) socket(s) handed over by the service manager")
        }
        guard own.isEmpty else { return }
        let path = try Self.explained { () throws(SocketFile.Problem) in
            let path = try SocketFile.choose(configuration.socket)
            try SocketFile.clear(path)
            return path
        }
        try Self.explained { () throws(EventLoopError) in try servers.listen(path: path, mode: configuration.socketMode)
        }
        log.write(.info, "listening on \(path)")
    }

    private func listenForHTTP() throws(Problem) {
        let problem = http.apply(configuration.http, exportDirectories: configuration.exportDirectories)
        if let problem { throw Problem(description: problem) }
        for socket in handedOver where socket.isHTTP {
            try Self.explained { () throws(EventLoopError) in
                if let address = try servers.listen(for: .http, descriptor: socket.descriptor) {
                    announce(address)
                }
            }
        }
        for address in configuration.http.listen {
            switch address {
            case .unix(let path, let mode):
                try Self.explained { () throws(SocketFile.Problem) in try SocketFile.clear(path) }
                try Self.explained { () throws(EventLoopError) in
                    try servers.listen(for: .http, path: path, mode: mode ?? configuration.socketMode)
                }
                log.write(.info, "serving HTTP on \(address)")
            case .tcp(let host, let port):
                try Self.explained { () throws(EventLoopError) in
                    for found in try InternetAddress.resolve(host: host, port: port) {
                        announce(try servers.listen(for: .http, on: found))
                    }
                }
            }
        }
        servers.apply(limits: configuration.limits, access: configuration.access)
    }

    private func announce(_ address: InternetAddress) {
        http.add(listening: address.host, isIPv6: address.isIPv6, isWildcard: address.isWildcard, port: address.port)
        log.write(.info, "serving HTTP on http://\(address)/")
    }

    /// Turns an error of another module into a problem.
    private static func explained<Result, Failure: Error & CustomStringConvertible>(
        _ body: () throws(Failure) -> Result
    ) throws(Problem) -> Result {
        do throws(Failure) { return try body() } catch { throw Problem(description: error.description) }
    }

    private func stop(_ number: Int32) {
        guard serverStatus.isServing else { return }
        serverStatus.endServing()
        startWait = nil
        log.write(.info, "signal \(number): ending after the calls in flight")
        status.stopping()
        filler.end()
        expiry = nil
        // Changes continue for the calls in flight, which may wait for them.
        servers.shutDown { [weak self] in
            self?.followers.end { self?.loop.stop() }
        }
    }

    /// Applies the changed configuration; if it is invalid, everything stays unchanged.
    private func reload() {
        guard serverStatus.isServing else { return }
        isReloadDue = startWait != nil
        guard !isReloadDue else { return }
        status.reloading()
        do throws(Configuration.Problem) {
            apply(try rereading())
            log.write(.notice, "the configuration is reloaded")
            serverStatus.reloaded(ServerStatus.Reload(time: Timestamp.now.text, error: nil))
        } catch {
            for line in error.lines { log.write(.error, "the configuration is unchanged: \(line)") }
            serverStatus.reloaded(ServerStatus.Reload(time: Timestamp.now.text, error: error.description))
        }
        if filler.onIdle == nil { status.ready() } else { status.loading { "Loading the declared sources" } }
    }

    private func apply(_ new: Configuration) {
        for name in configuration.membersFixedBut(changedIn: new) {
            log.write(.warning, "\(name) changed in the configuration: that takes effect with a restart")
        }
        if let problem = http.apply(new.http, exportDirectories: new.exportDirectories) {
            log.write(.error, problem)
        }
        warnOfUnknownNames(new.access)
        servers.apply(limits: new.limits, access: new.access)
        servers.observe(CallLog(log, new.log))
        sources.settings.set(new.liveValues(servers.limits))
        sources.registry.memory.limit = new.limits.memory
        log.set(new.log)
        filler.apply(new.sources)
        followers.apply(new.sources)
        configuration = new.keepingFixed(of: configuration)
    }

    private func warnOfUnknownNames(_ access: AccessPolicy) {
        for name in access.unknownNames { log.write(.warning, "\(name); it grants the right to nobody") }
    }

    /// Threads for filling declared sources, for expiry, and for work that outlives its call.
    private static let uncountedThreads = 4
    /// Room for what clustering a million points again takes and releases each time: about 280 MiB.
    private static let keptBytes = 320 << 20

    /// Ignores signals that have no meaning here and would end the process.
    private static func ignoreStraySignals() {
        for number in [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT] {
            signal(number, SIG_IGN)
        }
        // The real-time signals that the C library leaves to programs.
        for number in __libc_current_sigrtmin()...__libc_current_sigrtmax() { signal(number, SIG_IGN) }
    }

    /// Blocks the signals that end or reload the daemon until it can handle them: one that arrives during the start
    /// then ends it in order. Threads created meanwhile inherit the block, so these signals go to the first thread.
    private static func holdSignals() {
        var held = sigset_t()
        sigemptyset(&held)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&held, number) }
        pthread_sigmask(SIG_SETMASK, &held, nil)
    }

    /// Unblocks all signals. A parent may have blocked some, which a child inherits; then nothing could end the daemon.
    private static func releaseSignals() {
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
    }

    /// Raises the limit on open descriptors as far as the system allows. Returns how many connections that
    /// permits, reserving some for files.
    private static func raiseDescriptorLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        // If that is refused, for example by a system call filter, the previous limit stays in force.
        _ = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return max(1, Int(clamping: limit.rlim_cur) - descriptorsForFiles)
    }

    /// Descriptors reserved for the loop, standard streams, the listener, and files being read.
    private static let descriptorsForFiles = 32
}
