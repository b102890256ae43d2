// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SourceEngine
import SystemSupport

/// What the parts of a level leave open at some zooms, decided by a stream in order: however far chains reach, and however
/// many nodes lie at one place.
///
/// At each zoom the open nodes are read in order. Claimants are kept in memory, as many as fit; when there are more, what
/// they do not claim is read again, window by window. All else is read and written in sequence.
struct LevelStream: BuildStep {
    /// The file with the source's options, as JSON.
    let options: String
    let zooms: ClosedRange<Int>
    /// Files of `OpenNode`, the deepest zoom first, those of a zoom in order: the nodes that are open from a zoom on.
    let open: [String]
    /// Files of `ClaimedNode`, likewise by claimant: members of the open nodes' clusters that parts know for certain.
    let claimed: [String]
    /// Files of `NodeName`, likewise: open nodes that clusters of parts have claimed at a zoom.
    let taken: [String]
    let output: LevelFiles
    /// In bytes.
    let memory: Int

    /// How often the nodes of a zoom were read, at most.
    func rounds() throws(BuildError) -> Int {
        guard case .number(let rounds)? = try BuildFiles.value(output.rounds), let rounds = Int(exactly: rounds) else {
            throw BuildError("\(output.rounds) is missing; build again without --resume")
        }
        return rounds
    }

    var title: String { "the stream of zooms \(zooms.lowerBound) to \(zooms.upperBound)" }

    /// Writes `OUTPUT.clusters`, `OUTPUT.children`, and last `OUTPUT.survivors`.
    func run() throws(BuildError) {
        // Another attempt was faster.
        if ValueFile.exists(output.survivors) { return }
        let options = try BuildFiles.sourceOptions(options).clustering
        var rounds = 0
        let opened = try Sections(try SortedMerge<OpenNode>(open, memory: memory / 16, by: OpenNode.isBefore))
        let claimed = try Sections(try SortedMerge<ClaimedNode>(claimed, memory: memory / 16, by: ClaimedNode.isBefore))
        let taken = try Sections(try SortedMerge<NodeName>(taken, memory: memory / 16, by: NodeName.isBefore))
        let results = Results(
            clusters: try ValueWriter(output.clusters), children: try ValueWriter(output.children))
        // With one claimant for each node, windows need no more.
        var count = 16
        for path in open { count += try ValueReader<OpenNode>(path).count }
        let windowBytes = min(memory / 2, count * ClaimWindow.bytesOfClaimant)
        var (alive, before): (ValueReader<LevelNode>?, String?)
        for zoom in zooms.reversed() {
            let isLast = zoom == zooms.lowerBound
            let target = isLast ? output.survivors : Attempt.path(of: "\(output.base).level-\(zoom)")
            let input = try LevelInput(alive, opened, taken, zoom: zoom)
            let window = ClaimWindow(options, zoom: zoom, memory: windowBytes)
            try pass(input, window, claimed, zoom, options, results, target, &rounds)
            if let before { FileIO.remove(before) }
            if isLast {
                try results.finish()
                try BuildFiles.write(.number(Double(rounds)), to: output.rounds)
                try results.survivors?.finish()
            } else {
                try results.survivors?.finish(isTemporary: true)
                (alive, before) = (try ValueReader(target), target)
            }
        }
    }

    /// Decides a zoom.
    private func pass(
        _ input: LevelInput, _ window: ClaimWindow, _ claimed: Sections<ClaimedNode>, _ zoom: Int,
        _ options: ClusteringOptions,
        _ results: Results, _ target: String, _ rounds: inout Int
    ) throws(BuildError) {
        let paths = (
            claimants: Attempt.path(of: output.base + ".claimants"),
            rest: (0..<2).map { Attempt.path(of: "\(output.base).rest-\($0)") }
        )
        var members = ExternalSort<ClaimedNode>(
            at: output.base + ".members", memory: memory / 8,
            by: ClaimedNode.isBefore)
        let claimants = try ValueWriter<LevelNode>(paths.claimants)
        var windows = 0
        var left: ValueReader<LevelNode>?
        var isMore = true
        while isMore {
            var rest: ValueWriter<LevelNode>?
            let source = left
            var ahead = Lookahead(window) { () throws(BuildError) in
                if let source { try source.read() } else { try input.next() }
            }
            while let node = try ahead.next() {
                if let claimant = window.claimant(of: node) {
                    try members.append(ClaimedNode(node, claimant: claimant, zoom: UInt32(zoom)))
                } else if window.isFull {
                    if rest == nil { rest = try ValueWriter(paths.rest[windows % 2]) }
                    try rest?.append(node)
                } else {
                    window.add(node)
                    try claimants.append(node)
                }
            }
            try rest?.finish(isTemporary: true)
            left = rest == nil ? nil : try ValueReader(paths.rest[windows % 2])
            windows += 1
            isMore = left != nil
            if isMore { window.removeAll() }
        }
        for path in paths.rest { FileIO.remove(path) }
        rounds = max(rounds, windows)
        try claimants.finish(isTemporary: true)
        while let member = try claimed.next(of: zoom) { try members.append(member) }
        try form(try ValueReader(paths.claimants), &members, zoom, options, results, target)
        FileIO.remove(paths.claimants)
    }

    /// Forms the clusters of a zoom, and writes what is alive at it.
    private func form(
        _ claimants: ValueReader<LevelNode>, _ members: inout ExternalSort<ClaimedNode>, _ zoom: Int,
        _ options: ClusteringOptions, _ results: Results, _ target: String
    ) throws(BuildError) {
        let survivors = try ValueWriter<LevelNode>(target)
        results.survivors = survivors
        var claimant = try claimants.read()
        var growing = claimant.map { GrowingCluster($0) }
        func end() throws(BuildError) {
            guard let cluster = growing else { return }
            let node = cluster.node(options, zoom: zoom)
            try survivors.append(node)
            if cluster.childCount > 1 {
                try results.clusters.append(FormedCluster(node, childCount: cluster.childCount))
            }
            claimant = try claimants.read()
            growing = claimant.map { GrowingCluster($0) }
        }
        try members.finish { (member) throws(BuildError) in
            while let known = claimant, known.order < member.claimant { try end() }
            // Of a cluster that a part has formed itself.
            guard let known = claimant, known.order == member.claimant else { return }
            if growing?.childCount == 1 { try results.children.append(known.name) }
            growing?.add(member.node)
            try results.children.append(member.node.name)
        }
        while growing != nil { try end() }
    }

    private final class Results {
        let clusters: ValueWriter<FormedCluster>
        let children: ValueWriter<NodeName>
        var survivors: ValueWriter<LevelNode>?

        init(clusters: ValueWriter<FormedCluster>, children: ValueWriter<NodeName>) {
            (self.clusters, self.children) = (clusters, children)
        }

        func finish() throws(BuildError) {
            try clusters.finish()
            try children.finish()
        }
    }
}

extension LevelStream {
    var json: JSONValue {
        func list(_ paths: [String]) -> JSONValue { .array(paths.map { .string($0) }) }
        return .object([
            "options": .string(options), "output": .string(output.base),
            "zooms": .array([.number(Double(zooms.lowerBound)), .number(Double(zooms.upperBound))]),
            "open": list(open), "claimed": list(claimed), "taken": list(taken), "memory": .number(Double(memory)),
        ])
    }

    /// Nil if a member is missing or of another type.
    init?(_ value: JSONValue) {
        guard case .object(let object) = value, case .string(let options)? = object["options"],
            case .string(let output)? = object["output"], let zooms = object["zooms"].flatMap(StepValues.zooms),
            let open = object["open"].flatMap(StepValues.paths),
            let claimed = object["claimed"].flatMap(StepValues.paths),
            let taken = object["taken"].flatMap(StepValues.paths), case .number(let memory)? = object["memory"],
            let memory = Int(exactly: memory)
        else { return nil }
        self.init(
            options: options, zooms: zooms, open: open, claimed: claimed, taken: taken,
            output: LevelFiles(base: output), memory: memory)
    }
}

/// A value that belongs to a zoom.
private protocol OfZoom: BitwiseCopyable {
    var zoom: UInt32 { get }
}

extension OpenNode: OfZoom {
    static func isBefore(_ a: OpenNode, _ b: OpenNode) -> Bool {
        a.zoom != b.zoom ? a.zoom > b.zoom : a.node.order < b.node.order
    }
}

extension ClaimedNode: OfZoom {
    static func isBefore(_ a: ClaimedNode, _ b: ClaimedNode) -> Bool {
        if a.zoom != b.zoom { return a.zoom > b.zoom }
        return a.claimant != b.claimant ? a.claimant < b.claimant : a.node.order < b.node.order
    }
}

extension NodeName: OfZoom {
    static func isBefore(_ a: NodeName, _ b: NodeName) -> Bool {
        a.zoom != b.zoom ? a.zoom > b.zoom : a.order < b.order
    }
}

/// Reads what is sorted by zoom, the deepest first, zoom by zoom.
private final class Sections<Value: OfZoom> {
    private var merge: SortedMerge<Value>
    private var value: Value?

    init(_ merge: consuming SortedMerge<Value>) throws(BuildError) {
        self.merge = merge
        value = try self.merge.next()
    }

    /// The next value of a zoom; nil after the last one. What belongs to deeper zooms is left out.
    func next(of zoom: Int) throws(BuildError) -> Value? {
        while let next = value, next.zoom >= zoom {
            value = try merge.next()
            if next.zoom == zoom { return next }
        }
        return nil
    }
}

/// The nodes of a zoom, in order: those that are left of the zoom before and those that are open from this one on, without
/// those that parts have claimed.
private final class LevelInput {
    private let alive: ValueReader<LevelNode>?
    private let opened: Sections<OpenNode>
    private let taken: Sections<NodeName>
    private let zoom: Int
    private var (old, new): (LevelNode?, LevelNode?)
    private var claimed: NodeName?

    init(
        _ alive: ValueReader<LevelNode>?, _ opened: Sections<OpenNode>, _ taken: Sections<NodeName>, zoom: Int
    ) throws(BuildError) {
        (self.alive, self.opened, self.taken, self.zoom) = (alive, opened, taken, zoom)
        old = try alive?.read()
        new = try opened.next(of: zoom)?.node
        claimed = try taken.next(of: zoom)
    }

    func next() throws(BuildError) -> LevelNode? {
        while let node = try merged() {
            while let name = claimed, name.order < node.order { claimed = try taken.next(of: zoom) }
            if claimed?.order != node.order { return node }
        }
        return nil
    }

    private func merged() throws(BuildError) -> LevelNode? {
        if let node = old, new.map({ node.order < $0.order }) ?? true {
            old = try alive?.read()
            return node
        }
        guard let node = new else { return nil }
        new = try opened.next(of: zoom)?.node
        return node
    }
}

/// Reads nodes some steps ahead, so that memory is fetched before it is needed.
private struct Lookahead {
    private let window: ClaimWindow
    private let read: () throws(BuildError) -> LevelNode?
    private var nodes: [LevelNode] = []
    private var index = 0
    private static let distance = 16

    init(_ window: ClaimWindow, _ read: @escaping () throws(BuildError) -> LevelNode?) {
        (self.window, self.read) = (window, read)
    }

    mutating func next() throws(BuildError) -> LevelNode? {
        while nodes.count < Self.distance, let node = try read() {
            window.fetch(node)
            nodes.append(node)
        }
        guard !nodes.isEmpty else { return nil }
        if index == nodes.count { index = 0 }
        let node = nodes[index]
        if let following = try read() {
            window.fetch(following)
            nodes[index] = following
            index += 1
        } else {
            nodes.remove(at: index)
        }
        return node
    }
}
