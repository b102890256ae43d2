// SPDX-License-Identifier: MIT

/// The desktop that the program runs on, if any.
enum Desktop {
    /// Shows an address in the user's browser; does nothing without a desktop.
    static func open(_ address: String) {
        let hasDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(Terminal.environment($0) ?? "").isEmpty }
        guard hasDesktop, let program = ChildProcess.find("xdg-open") else { return }
        _ = try? BackgroundProgram.start(
            program, [address], environment: BackgroundProgram.environment(without: []))
    }
}
