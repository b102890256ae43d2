// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import clusterctl

@Suite("Charts in the terminal") struct ChartTests {
    @Test(
        "bars show eighths, and something for all that is not nothing",
        arguments: [
            (0.0, ""), (1e-9, "▏"), (0.25, "█"), (0.28, "█▏"), (0.5, "██"), (0.9, "███▋"), (1, "████"), (7, "████"),
            (-1, ""),
        ])
    func bars(_ share: Double, _ text: String) { #expect(Bar.text(share, width: 4) == text) }

    @Test("a histogram has a row for each bin, with bars that fit the terminal") func histograms() throws {
        let histogram = try JSONReader.parse(
            #"{"edges":[0,0.5,1000],"counts":[20,5],"below":0,"above":1,"missing":2,"revision":1}"#)
        let text = HistogramCommand.table(histogram, width: 40).text(width: 40, style: .plain)
        #expect(
            text == """
                FROM     TO  POINTS
                   0    0.5      20  ███████████████████
                 0.5  1,000       5  ████▊

                """)
        #expect(HistogramCommand.table(histogram, width: nil).csv == "from,to,points\n0,0.5,20\n0.5,1000,5\n")
    }

    @Test("a grid is drawn with shades by the logarithm of the count") func grids() throws {
        let grid = try JSONReader.parse(
            #"{"resolution":3,"cells":[{"x":4,"y":2,"point_count":1},{"x":6,"y":2,"point_count":10000},{"x":5,"y":4,"point_count":100}]}"#
        )
        let cells = GridCommand.cells(of: grid)
        #expect(GridPicture.lines(cells, width: 6) == ["··  ██", "", "  ▒▒"])
        #expect(GridPicture.lines(cells, width: 5) == nil)
        let high = [GridPicture.Cell(x: 0, y: 0, count: 1), GridPicture.Cell(x: 0, y: 64, count: 1)]
        #expect(GridPicture.lines(high, width: 80) == nil)
    }
}
