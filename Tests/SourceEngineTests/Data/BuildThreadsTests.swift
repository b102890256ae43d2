// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import SourceEngine

@Suite("Threads of builds") struct BuildThreadsTests {
    /// Notes the threads that look whether their work is cancelled.
    private final class Lookers: Sendable {
        private let found = Mutex<Set<pthread_t>>([])

        var threads: Set<pthread_t> { found.withLock { $0 } }

        var cancellation: Cancellation {
            Cancellation { [self] in
                found.withLock { _ = $0.insert(pthread_self()) }
                return false
            }
        }
    }

    @Test("with one thread, options are applied and filters are built by their caller's thread alone")
    func one() throws {
        // Its limits allow one thread. Columns of so many rows would be read by two.
        let test = try TestSource()
        let features = (0..<20_000).map { point($0, Double($0 % 300) - 150, 0, "{\"n\":\($0)}") }
        try test.load("[" + features.joined(separator: ",") + "]")
        let lookers = Lookers()
        let options = #"{"clusterProperties":{"sum":["+",["get","n"]]}}"#
        try test.source.update(options: SourceOptions(reading: JSONReader.parse(options)), lookers.cancellation)
        let filter = QueryFilter(try JSONReader.parse(#"["<",["get","n"],9000]"#))
        let view = try test.source.revision.view(filter, zoom: nil, lookers.cancellation)
        #expect(view.members?.count == 9000)
        #expect(lookers.threads == [pthread_self()])
    }
}
