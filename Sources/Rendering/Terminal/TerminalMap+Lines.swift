// SPDX-License-Identifier: MIT
import ClusterClient
import JSON

extension TerminalMap {
    static let keyHints = "arrows move  + - zoom  tab select  enter open  0 all  ? help  q quit"

    /// The source and a summary of what is shown, then the legend if there is room.
    func titleLine(source: String, _ palette: TerminalPalette) -> String {
        let text = "\(source)  \(counts)  zoom \(camera.zoom)  \(position)"
        let legend = Self.legend
        let width = legend.reduce(0) { $0 + DisplayWidth.of($1.text) + 3 }
        guard palette != .none, DisplayWidth.of(text) + width + 2 <= camera.columns else { return line(text) }
        let room = camera.columns - width - 1
        let title = DisplayWidth.truncate(PrintableText.of(text), to: room)
        let coloured = legend.map { entry in
            palette.foreground(entry.colour) + "●\u{1B}[0m \(entry.text) "
        }
        return " \u{1B}[1m" + title + "\u{1B}[0m"
            + String(repeating: " ", count: room - DisplayWidth.of(title))
            + coloured.joined()
    }

    /// The meaning of the colours.
    private static let legend: [(colour: Colour, text: String)] =
        [(MarkerStyle.point, "1")] + MarkerStyle.steps.map { ($0.colour, "\($0.count)+") }

    /// The selected marker's name and properties.
    var selection: String {
        guard let feature = selectedFeature else { return isLoaded ? "nothing here" : "" }
        var text = "▸ \(MarkerName.of(feature))  \(MarkerName.position(feature, camera.projection))"
        if feature.cluster != nil { text += "  id \(feature.cluster?.id ?? 0)" }
        let own = ["cluster", "cluster_id", "point_count", "point_count_abbreviated"]
        for (key, value) in feature.properties.members where feature.cluster == nil || !own.contains(key) {
            text += "  \(key)=\(value.asString ?? value.text)"
        }
        return text
    }

    /// A text after a space, truncated or padded to the screen's width.
    func line(_ text: String) -> String {
        let cut = DisplayWidth.truncate(" " + PrintableText.of(text), to: camera.columns)
        return cut + String(repeating: " ", count: max(0, camera.columns - DisplayWidth.of(cut)))
    }

    private var position: String {
        MarkerName.position(
            latitude: camera.projection.latitude(camera.centreY),
            longitude: camera.projection.longitude(camera.centreX), camera.projection)
    }

    private var counts: String {
        guard isLoaded else { return "loading" }
        let clusters = features.count { $0.cluster != nil }
        let points = features.count - clusters
        return "\(clusters) cluster\(clusters == 1 ? "" : "s"), \(points) point\(points == 1 ? "" : "s")"
    }
}
