// SPDX-License-Identifier: MIT
import Rendering

/// A line on standard error that shows the progress of a long transfer, if that is a terminal.
struct ProgressBar {
    private let label: String
    /// The total number of bytes; nil if unknown (a pipe).
    private let total: Int?
    private let isShown: Bool
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var lastDrawn: ContinuousClock.Instant
    private var hasDrawn = false

    init(_ label: String, total: Int?, isShown: Bool = Terminal.errorIsTerminal) {
        self.label = label
        self.total = total
        self.isShown = isShown
        start = clock.now
        lastDrawn = start
    }

    /// Redraws at most ten times a second.
    mutating func update(bytes: Int, features: Int) {
        guard isShown, clock.now - lastDrawn >= .milliseconds(100) else { return }
        lastDrawn = clock.now
        let elapsed = clock.now - start
        draw(ProgressBar.line(label, bytes, of: total, features, elapsed: elapsed, width: Terminal.errorWidth))
    }

    /// Shows the number of written tiles, the rate and the time left. Redraws at most ten times a second.
    mutating func update(tiles: Int, of total: Int, bytes: Int) {
        guard isShown, clock.now - lastDrawn >= .milliseconds(100) else { return }
        lastDrawn = clock.now
        let elapsed = (clock.now - start) / .seconds(1)
        let rate = Double(tiles) / max(1e-3, elapsed)
        let left = rate > 0 ? Double(max(0, total - tiles)) / rate * 1000 : 0
        let share = total > 0 ? Double(tiles) / Double(total) : 0
        let text =
            "\(label)  \(Quantity.fixed(share * 100, decimals: 0))%  \(Quantity.grouped(tiles)) of "
            + "\(Quantity.grouped(total)) tiles  \(Quantity.bytes(Double(bytes)))  \(Quantity.grouped(Int(rate))) tiles/s  "
            + "\(Quantity.duration(milliseconds: left)) left"
        draw(DisplayWidth.truncate(text, to: Terminal.errorWidth - 1))
    }

    /// Shows a text instead of the bar, such as what the program waits for.
    mutating func show(_ text: String) {
        if isShown { draw("\(label)  \(text)") }
    }

    /// Removes the line.
    mutating func clear() {
        if hasDrawn { Terminal.writeError("\r\u{1B}[K") }
        hasDrawn = false
    }

    private mutating func draw(_ line: String) {
        hasDrawn = true
        Terminal.writeError("\r\(line)\u{1B}[K")
    }

    static func line(
        _ label: String, _ bytes: Int, of total: Int?, _ features: Int, elapsed: Duration, width: Int
    ) -> String {
        let seconds = max(elapsed / .seconds(1), 1e-3)
        let rate = Quantity.bytes(Double(bytes) / seconds) + "/s"
        var tail = "\(Quantity.bytes(Double(bytes)))  \(Quantity.grouped(features)) features  \(rate)"
        guard let total, total > 0 else { return DisplayWidth.truncate("\(label)  \(tail)", to: width - 1) }
        let share = min(1, Double(bytes) / Double(total))
        tail = "\(Quantity.fixed(share * 100, decimals: 0))%  " + tail
        let room = min(30, width - 1 - DisplayWidth.of(label) - DisplayWidth.of(tail) - 4)
        guard room >= 5 else { return DisplayWidth.truncate("\(label)  \(tail)", to: width - 1) }
        let filled = Int((share * Double(room)).rounded(.down))
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: room - filled)
        return "\(label)  \(bar)  \(tail)"
    }
}
