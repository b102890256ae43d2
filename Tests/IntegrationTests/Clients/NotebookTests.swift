// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

/// The notebook's map in a real JupyterLab and a real browser; each scenario is a function of Tests/Browser/notebook.py.
@Suite("The notebook's map", .serialized, .enabled(if: Chromium.isInstalled, "needs Debian's chromium"))
struct NotebookTests {
    @Test(
        "a scenario in JupyterLab", .timeLimit(.minutes(10)),
        arguments: [
            "a_table_becomes_a_live_map", "mouse_and_keyboard_move_it", "nothing_comes_from_elsewhere",
            "dark_and_two_views", "what_was_started_ends", "a_million_points_pan", "the_examples_run",
        ])
    func scenario(_ name: String) throws {
        let script = Repository.root.appendingPathComponent("Tests/Browser/notebook.py").path
        let program = DaemonProcess.products.appendingPathComponent("clusterd").path
        // The time of an answer is measured on a quiet machine; tests run beside each other.
        let result = try DaemonProcess.run(
            "/usr/bin/python3", ["-B", script, program, name], environment: ["CLUSTERD_BUSY": "1"])
        guard result.status != 77 else {
            print("JupyterLab or anywidget is not in .build/test-python: the notebook's map is not tested")
            return
        }
        #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    }
}
