// SPDX-License-Identifier: MIT

/// Determines which dots of a terminal's map are land and which are borders. A plane is all land.
struct LandRaster {
    enum Ground: UInt8 { case sea, land, border }

    let columns, rows: Int
    private var dots: [Ground]

    /// - Parameter frame: the frame, in dots. The cost is proportional to its rows and to the outline's 8,000 points.
    init(_ frame: PictureFrame, _ world: WorldOutline = .shared) {
        columns = frame.width
        rows = frame.height
        dots = Array(repeating: .sea, count: columns * rows)
        guard frame.projection.wraps else {
            let (area, left, right) = (frame.worldArea, frame.worldArea.left, frame.worldArea.right)
            let corners = [
                PixelPoint(x: left, y: area.top), PixelPoint(x: right, y: area.top),
                PixelPoint(x: right, y: area.bottom), PixelPoint(x: left, y: area.bottom),
                PixelPoint(x: left, y: area.top),
            ]
            fill([corners])
            return
        }
        for copy in [-1.0, 0, 1] {
            func pixels(_ line: [WorldOutline.UnitPoint]) -> [PixelPoint] {
                line.map { frame.pixel(x: $0.x + copy, y: $0.y) }
            }
            for rings in world.land { fill(rings.map(pixels)) }
            for line in world.borders { trace(pixels(line)) }
        }
    }

    subscript(column: Int, row: Int) -> Ground { dots[row * columns + column] }

    /// Fills rings by the even-odd rule: a dot is land if its middle is.
    private mutating func fill(_ rings: [[PixelPoint]]) {
        let ys = rings.joined().map(\.y)
        guard let top = ys.min(), let bottom = ys.max(), bottom > 0, top < Double(rows) else { return }
        for row in max(0, Int(top))...min(rows - 1, Int(bottom)) {
            let y = Double(row) + 0.5
            var crossings: [Double] = []
            for ring in rings {
                for (start, end) in zip(ring, ring.dropFirst()) where (start.y <= y) != (end.y <= y) {
                    crossings.append(start.x + (y - start.y) / (end.y - start.y) * (end.x - start.x))
                }
            }
            crossings.sort()
            for pair in stride(from: 0, to: crossings.count - 1, by: 2) {
                let (first, last) = (Self.bounded(crossings[pair], columns), Self.bounded(crossings[pair + 1], columns))
                for column in first..<max(first, last) { dots[row * columns + column] = .land }
            }
        }
    }

    /// The first dot whose middle is not left of x, clamped to the columns.
    private static func bounded(_ x: Double, _ columns: Int) -> Int {
        Int(min(max((x - 0.5).rounded(.up), 0), Double(columns)))
    }

    /// Marks the dots that a line crosses.
    private mutating func trace(_ line: [PixelPoint]) {
        for (start, end) in zip(line, line.dropFirst()) {
            let steps = max(1, Int(min(max(abs(end.x - start.x), abs(end.y - start.y)), 4096).rounded(.up)))
            for step in 0..<steps {
                let part = Double(step) / Double(steps)
                let x = start.x + (end.x - start.x) * part
                let y = start.y + (end.y - start.y) * part
                guard x >= 0, y >= 0, x < Double(columns), y < Double(rows) else { continue }
                let dot = Int(y) * columns + Int(x)
                if dots[dot] == .land { dots[dot] = .border }
            }
        }
    }
}
