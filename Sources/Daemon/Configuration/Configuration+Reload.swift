// SPDX-License-Identifier: MIT
import Calls

extension Configuration {
    /// Members that differ but cannot change without a restart, by their names in the file.
    func membersFixedBut(changedIn other: Configuration) -> [String] {
        var names: [String] = []
        if socket != other.socket { names.append("socket") }
        if socketMode != other.socketMode { names.append("socketMode") }
        if stateDirectory != other.stateDirectory { names.append("state") }
        if http.listen != other.http.listen { names.append("http.listen") }
        if http.allowRemote != other.http.allowRemote { names.append("http.allowRemote") }
        for limit in Limits.table
        where !limit.isLive && limits[keyPath: limit.place] != other.limits[keyPath: limit.place] {
            names.append("limits.\(limit.name)")
        }
        return names
    }

    /// This configuration with the old values of members that only a restart changes.
    func keepingFixed(of old: Configuration) -> Configuration {
        var kept = self
        kept.socket = old.socket
        kept.socketMode = old.socketMode
        kept.http.listen = old.http.listen
        kept.http.allowRemote = old.http.allowRemote
        kept.stateDirectory = old.stateDirectory
        kept.limits = old.limits.taking(liveFrom: limits)
        return kept
    }
}
