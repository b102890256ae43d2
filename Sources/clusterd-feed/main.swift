// SPDX-License-Identifier: MIT
import ClusterProtocol
import CommandLineOptions
import Dispatch
import Feeds
import Glibc

nonisolated func complain(_ message: String) { Launch.writeToStandardError("clusterd-feed: \(message)\n") }

nonisolated func fail(_ message: String, status: Int32) -> Never {
    complain(message)
    exit(status)
}

func settings(_ arguments: ParsedArguments) throws(FeedSettings.Problem) -> FeedSettings {
    var settings = FeedSettings()
    if let path = arguments.string("config") {
        do throws(FeedSettings.Problem) {
            try settings.read(configuration: try SmallText.read(path))
        } catch { throw FeedSettings.Problem(message: "--config \(path): \(error.message)") }
    }
    for member in FeedSettings.members where arguments.has(member.name) {
        try settings.set(flag: member.name, to: arguments.string(member.name) ?? "")
    }
    if let url = arguments.operands.first { settings.url = url }
    return settings
}

/// A file that is read as a whole.
enum SmallText {
    private static let mostBytes = 16 << 20

    static func read(_ path: String) throws(FeedSettings.Problem) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FeedSettings.Problem(message: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while bytes.count <= mostBytes {
            let piece = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
                count = max(0, Glibc.read(descriptor, buffer.baseAddress, buffer.count))
            }
            if piece.isEmpty { return bytes }
            bytes += piece
        }
        throw FeedSettings.Problem(message: "is larger than \(mostBytes) bytes")
    }
}

/// How the program ends. A type of its own, since what stands at the top belongs to the main actor, and signals and
/// timers come on other threads.
enum Ending {
    static func after(_ seconds: Int, _ body: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds), execute: body)
    }

    /// Lets signals stop a feed. What is still under way ten seconds later is applied after the next start.
    static func stops(_ feed: Feed) -> [any DispatchSourceSignal] {
        [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                feed.stop()
                after(10) { _exit(0) }
            }
            source.resume()
            return source
        }
    }
}

signal(SIGPIPE, SIG_IGN)
let arguments = Launch.parseOrExit(CommandTable.command, version: Release.version)
if let name = arguments.string("print"), let text = PrintedText(rawValue: name) {
    print(text.content, terminator: "")
    exit(0)
}
let feed: Feed
let isCheck: Bool
do throws(FeedSettings.Problem) {
    let settings = try settings(arguments)
    isCheck = settings.checks
    feed = try Feed(settings) { complain($0) }
} catch { fail(error.message, status: 2) }

let stops = Ending.stops(feed)
do throws(Feed.Failure) {
    if isCheck {
        Ending.after(28) { fail("the check has taken too long", status: 1) }
        try await feed.check { print($0) }
    } else {
        try await feed.run()
    }
} catch { fail(error.message, status: 1) }
withExtendedLifetime(stops) {
    fflush(nil)
    // Threads of the brokers' libraries may still run.
    _exit(0)
}
