// SPDX-License-Identifier: MIT
import Foundation
import TestSupport

/// A folder like that of a reader who has built the project, in which documents' commands are run as they stand. They
/// have a network and a /tmp of their own, so that ports and sockets of fixed names are free.
final class FreshFolder {
    let path = "/var/tmp/clusterd-documents-" + UUID().uuidString.prefix(12)

    /// Whether the system grants such namespaces, and the project is not below the /tmp that they replace.
    static let isPossible: Bool = {
        let result = try? DaemonProcess.run(
            "/usr/bin/env", ["unshare", "-rmn", "sh", "-c", "ip link set lo up && mount -t tmpfs none /tmp"])
        return result?.status == 0 && !ShellBlock.root.path.hasPrefix("/tmp/") && has("curl")
    }()

    init() throws {
        let files = FileManager.default
        try files.createDirectory(atPath: path + "/.build/release", withIntermediateDirectories: true)
        try files.createDirectory(atPath: path + "/Examples", withIntermediateDirectories: true)
        let cities = ShellBlock.root.appendingPathComponent("Examples/cities.geojson").path
        try files.copyItem(atPath: cities, toPath: path + "/Examples/cities.geojson")
        try files.copyItem(atPath: cities, toPath: path + "/cities.geojson")
        let places = ShellBlock.root.appendingPathComponent("Examples/places").path
        try files.copyItem(atPath: places, toPath: path + "/Examples/places")
        let products = DaemonProcess.products.path
        try files.createSymbolicLink(
            atPath: path + "/.build/release/clusterd", withDestinationPath: products + "/clusterd")
        // A build for debugging takes a minute for a million points: of these, twenty thousand are made.
        let fewer = """
            #!/bin/bash
            exec \(products)/clusterctl "${@/#1000000/20000}"
            """
        try fewer.write(toFile: path + "/.build/release/clusterctl", atomically: true, encoding: .utf8)
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path + "/.build/release/clusterctl")
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Runs a script with the built programs on the PATH. What it leaves in the background ends with it.
    func run(_ script: String) throws -> (status: Int32, output: String, errors: String) {
        let prologue = """
            ip link set lo up && mount -t tmpfs none /tmp && cd '\(path)' || exit 99
            unset DISPLAY WAYLAND_DISPLAY CLUSTERD_SOCKET TMPDIR
            export XDG_RUNTIME_DIR=/tmp
            trap 'status=$?; set +e; kill $(jobs -p) 2>/dev/null; wait; exit $status' EXIT
            # Runs a command that does not end by itself until it prints something, then sends it a signal. In the
            # background a program ignores SIGINT unless it asks for it.
            until_printed() {
                local pattern=$1 signal=INT found=1 pid line; shift
                if [ "$1" = curl ]; then signal=KILL; fi
                exec 3< <(exec "$@" 2>&1); pid=$!
                while IFS= read -r line <&3; do
                    if [[ $line =~ $pattern ]]; then found=0; echo "$line"; break; fi
                    echo "$line" >&2
                done
                kill -$signal $pid; cat <&3 >/dev/null; return $found
            }
            # Waits as a reader does between two commands, until the daemon that was just started listens.
            until_serving() {
                local tries=0
                until clusterctl "$@" health >/dev/null 2>&1; do
                    tries=$((tries + 1)); [ $tries -lt 2000 ] || return 1
                done
            }
            set -e -o pipefail

            """
        return try DaemonProcess.run(
            "/usr/bin/env", ["timeout", "120", "unshare", "-rmn", "--fork", "bash", "-c", prologue + script],
            environment: ["PATH": path + "/.build/release:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"])
    }
}
