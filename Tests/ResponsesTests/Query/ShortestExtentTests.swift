// SPDX-License-Identifier: MIT
import Testing

@testable import Responses

@Suite("Shortest extent") struct ShortestExtentTests {
    @Test(
        "leaves out the widest gap",
        arguments: [
            ([10.0], 10.0, 10.0), ([170, -170], 170, -170), ([-180, 180], 180, -180), ([-100, 0, 100], -100, 100),
            ([-179, 120, 179, 150], 120, -179),
        ] as [([Double], Double, Double)])
    func leavesTheWidestGapOut(_ longitudes: [Double], _ west: Double, _ east: Double) {
        let extent = ClusterExtent.shortestExtent(of: longitudes)
        #expect(extent.west == west)
        #expect(extent.east == east)
    }
}
