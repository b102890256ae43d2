// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Testing

@testable import ClusterClient

/// Texts of changes.
enum Change {
    static func feature(_ key: String, _ name: String = "") -> String {
        #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"name":"\#(name)"},"key":"\#(key)"}"#
    }

    static func text(add: [String] = [], remove: [String] = [], keep: Int, revision: Int = 1) -> String {
        let removed = remove.map { "\"\($0)\"" }.joined(separator: ",")
        return
            #"{"add":[\#(add.joined(separator: ","))],"remove":[\#(removed)],"keep":\#(keep),"revision":\#(revision)}"#
    }
}

@Suite("Marker queue") struct MarkerQueueTests {
    private var queue = MarkerQueue()

    private mutating func apply(
        add: [String] = [], remove: [String] = [], keep: Int, revision: Int = 1
    ) throws {
        try queue.apply(
            JSONReader.parse(Change.text(add: add, remove: remove, keep: keep, revision: revision)))
    }

    private mutating func take(_ most: Int = .max) -> [String] {
        queue.take(most).map { step in
            switch step {
            case .remove(let key, let into): into.map { "-\(key)>\($0)" } ?? "-\(key)"
            case .add(let marker): marker.from.map { "+\(marker.key)<\($0)" } ?? "+\(marker.key)"
            case .replace(let marker): "=\(marker.key)"
            }
        }
    }

    @Test("steps come in order, as many as requested") mutating func yieldsRequestedSteps() throws {
        try apply(add: ["a", "b", "c"].map { Change.feature($0) }, keep: 0)
        #expect(take(2) == ["+a", "+b"])
        try apply(add: [Change.feature("d")], remove: ["a"], keep: 2, revision: 2)
        #expect(take() == ["+c", "-a", "+d"])
        #expect(queue.isEmpty)
        #expect(take().isEmpty)
        #expect(queue.revision == 2)
        #expect(Set(queue.delivered.keys) == ["b", "c", "d"])
    }

    private static func transition(_ key: String, _ longitude: Double, from: String? = nil) -> String {
        let member = from.map { #","from":"\#($0)""# } ?? ""
        return
            #"{"type":"Feature","geometry":{"type":"Point","coordinates":[\#(longitude),2]},"properties":{},"key":"\#(key)"\#(member)}"#
    }

    @Test("transitions say where markers come from and go") mutating func transitionsNameOrigins() throws {
        let first = [Self.transition("a", 1), Self.transition("b", 2)].joined(separator: ",")
        try queue.apply(JSONReader.parse(#"{"add":[\#(first)],"update":[],"remove":[],"keep":0,"revision":1}"#))
        #expect(take() == ["+a", "+b"])
        let (added, updated) = (Self.transition("c", 3, from: "a"), Self.transition("a", 1.5))
        try queue.apply(
            JSONReader.parse(
                #"{"add":[\#(added)],"update":[\#(updated)],"remove":[{"key":"b","into":"a"}],"keep":0,"revision":2}"#
            ))
        #expect(take() == ["-b>a", "+c<a", "=a"])
        try queue.apply(
            JSONReader.parse(#"{"add":[],"update":[],"remove":[{"key":"c"}],"keep":1,"revision":3}"#))
        #expect(take() == ["-c"])
    }

    @Test("markers closest to the centre come first") mutating func nearestToTheCentreComesFirst() throws {
        let markers = [("a", 170.0), ("b", -10), ("c", 20), ("d", -175), ("e", 21)]
        let text = markers.map { Self.transition($0.0, $0.1) }.joined(separator: ",")
        queue.move(to: BoundingBox(west: 10, south: -10, east: 30, north: 10))
        try queue.apply(JSONReader.parse(#"{"add":[\#(text)],"remove":[],"keep":0,"revision":1}"#))
        #expect(take(3) == ["+c", "+e", "+b"])
        // The map goes to the antimeridian.
        queue.move(to: BoundingBox(west: 175, south: -10, east: -160, north: 10))
        #expect(take() == ["+d", "+a"])
    }

    @Test("markers that appear and disappear in between are not delivered") mutating func skipsMarkersThatCameAndWent()
        throws
    {
        try apply(add: [Change.feature("a")], keep: 0)
        try apply(remove: ["a"], keep: 0)
        #expect(take().isEmpty)
        try apply(add: [Change.feature("a")], keep: 0)
        #expect(take() == ["+a"])
        try apply(remove: ["a"], keep: 0)
        try apply(add: [Change.feature("a")], keep: 0)
        #expect(take().isEmpty)
    }

    @Test("another feature under a key replaces the first")
    mutating func anotherFeatureUnderAKeyReplacesTheFirst() throws {
        try apply(add: [Change.feature("a", "x")], keep: 0)
        _ = take()
        try apply(add: [Change.feature("a", "y")], keep: 0)
        #expect(take() == ["=a"])
        #expect(queue.delivered["a"].map(Self.name) == "y")
        #expect(queue.delivered["a"]?.feature.json["key"] == nil)
    }

    @Test("an inconsistent change is an error") mutating func whatDoesNotFitIsAnError() throws {
        try apply(add: [Change.feature("a")], keep: 0)
        for text in [
            Change.text(remove: ["b"], keep: 1), Change.text(keep: 2), #"{"add":[],"remove":[]}"#, "1",
            Change.text(add: [#"{"type":"Feature"}"#], keep: 1),
            #"{"add":[],"remove":[1],"keep":1,"revision":1}"#,
        ] {
            var queue = self.queue
            #expect(throws: RPCError.self) { try queue.apply(JSONReader.parse(text)) }
        }
    }

    /// However changes and steps interleave, the app ends with what is to be seen, and nothing is delivered
    /// twice.
    @Test("every interleaving ends in the right state", arguments: 0..<20) mutating func anyInterleavingEndsRight(
        _ seed: UInt64
    ) throws {
        var random = Numbers(state: seed)
        var wanted: [String: String] = [:]
        var shown: [String: String] = [:]
        for _ in 0..<200 {
            var (added, removed) = ([String](), [String]())
            for key in ["a", "b", "c", "d", "e"] {
                switch random.next(5) {
                case 0 where wanted[key] != nil:
                    wanted[key] = nil
                    removed.append(key)
                case 1:
                    let name = "\(random.next(3))"
                    wanted[key] = name
                    added.append(Change.feature(key, name))
                default: break
                }
            }
            try apply(add: added, remove: removed, keep: wanted.count - added.count)
            for step in queue.take(random.next(4)) {
                switch step {
                case .remove(let key, _): #expect(shown.removeValue(forKey: key) != nil)
                case .add(let marker):
                    #expect(shown.updateValue(Self.name(marker), forKey: marker.key) == nil)
                case .replace(let marker):
                    let name = Self.name(marker)
                    let old = shown.updateValue(name, forKey: marker.key)
                    #expect(old != nil)
                    #expect(old != name)
                }
            }
        }
        for step in queue.take(.max) {
            switch step {
            case .remove(let key, _): shown[key] = nil
            case .add(let marker), .replace(let marker): shown[marker.key] = Self.name(marker)
            }
        }
        #expect(shown == wanted)
        #expect(queue.isEmpty)
    }

    private static func name(_ marker: Marker) -> String { marker.feature.properties["name"]?.asString ?? "" }

    private struct Numbers {
        var state: UInt64

        mutating func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
    }
}
