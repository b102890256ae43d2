// SPDX-License-Identifier: MIT
import Glibc

/// libFuzzer's entrance for programs that have a `main` of their own.
@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ take: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// The target that FUZZ_TARGET names. libFuzzer calls from one thread only; that is why it need not be guarded.
nonisolated(unsafe) let target: any FuzzTarget = makeTarget()

func makeTarget() -> any FuzzTarget {
    switch getenv("FUZZ_TARGET").map({ String(cString: $0) }) {
    case "frame"?: return FrameTarget()
    case "envelope"?: return EnvelopeTarget()
    case "geojson"?: return FeatureTarget()
    case "expression"?: return ExpressionTarget()
    case "options"?: return OptionsTarget()
    case "snapshot"?: return SnapshotTarget()
    case "request"?: return RequestTarget()
    case "websocket"?: return WebSocketTarget()
    case "http2"?: return HTTP2Target()
    case "message"?: return MessageTarget()
    case "journal"?: return JournalTarget()
    case "backup"?: return BackupTarget()
    case "updates"?: return UpdatesTarget()
    case "watches"?: return WatchesTarget()
    default:
        say(
            "FUZZ_TARGET must be frame, envelope, geojson, expression, options, snapshot, request, websocket, http2, message, journal, backup, updates or watches"
        )
        exit(2)
    }
}

// What threads in the background still hold when the process ends would count as leaked.
atexit { usleep(500_000) }

var count = CommandLine.argc
var arguments = CommandLine.unsafeArgv
exit(
    runDriver(&count, &arguments) { bytes, count in
        target.take(UnsafeRawBufferPointer(start: bytes, count: count))
        return 0
    })
