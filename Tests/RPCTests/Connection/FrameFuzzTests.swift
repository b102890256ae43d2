// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import TestSupport
import Testing

@testable import RPC

/// Streams of frames made at random, against a model of the contract, and the same with bytes changed.
@Suite("60,000 random messages") struct FrameFuzzTests {
    private static let framesPerStream = 40

    /// What a connection did with a message, or with the stream.
    private enum Outcome: Equatable {
        case open(Int64)
        case deliver(Int64)
        case endInput(Int64)
        case cancel(Int64)
        case refuse(Int64, String)
        case fail(Int64, String)
        case ignore
        case noCall(String)
        case broken(String)
    }

    /// The parts of a connection that have no socket, put together as the server does.
    private struct Receiver {
        var decoder = FrameDecoder(limit: FuzzedFrame.limit)
        var machine = ConnectionStateMachine<Int64>()
        let parser = JSONParser()
        var outcomes: [Outcome] = []
        var isBroken = false

        mutating func receive(_ bytes: ArraySlice<UInt8>) {
            guard !isBroken else { return }
            decoder.append(bytes.span.bytes)
            do throws(RPCError) {
                while let message = try decoder.next({ [parser] text in
                    Result { () throws(EnvelopeError) in try ClientMessage.read(text, parser: parser) }
                }) { take(message) }
            } catch {
                isBroken = true
                outcomes.append(.broken(error.code.name))
            }
        }

        private mutating func take(_ message: Result<ClientMessage, EnvelopeError>) {
            switch message {
            case .success(.open(let request)): open(request)
            case .success(.item(let id, let item)): record(machine.receive(item: item, for: id), id)
            case .success(.end(let id)): record(machine.receiveEnd(for: id), id)
            case .success(.cancel(let id)): record(machine.receiveCancel(for: id), id)
            case .failure(let failure):
                if let id = failure.id { return record(machine.receive(unusable: failure, id: id), id) }
                outcomes.append(.noCall(failure.error.code.name))
                for action in machine.receive(unreadable: failure) { record(action, 0) }
            }
        }

        /// As a caller opens a call, whose work then never ends by itself.
        private mutating func open(_ request: CallRequest) {
            let id = request.id
            do throws(RPCError) { try machine.checkFree(id) } catch {
                return outcomes.append(.refuse(id, error.code.name))
            }
            guard let kind = FrameFuzzTests.kind(request.method) else {
                return outcomes.append(.refuse(id, StatusCode.unimplemented.name))
            }
            guard machine.openCalls < 4 else {
                return outcomes.append(.refuse(id, StatusCode.resourceExhausted.name))
            }
            machine.add(id, id, kind)
            outcomes.append(.open(id))
        }

        private mutating func record(_ action: ConnectionStateMachine<Int64>.Action, _ id: Int64) {
            switch action {
            case .deliver(let id, _): outcomes.append(.deliver(id))
            case .endInput(let id): outcomes.append(.endInput(id))
            case .cancel(let id): outcomes.append(.cancel(id))
            case .refuse(let error): outcomes.append(.refuse(id, error.code.name))
            case .fail(let id, let error): outcomes.append(.fail(id, error.code.name))
            case .ignore: outcomes.append(.ignore)
            }
        }
    }

    private static func kind(_ method: String) -> MethodDeclaration.Kind? {
        switch FuzzedFrame.Method(rawValue: method) {
        case .unary: .unary
        case .clientStream: .clientStream
        case .both: .both
        case .unknown, nil: nil
        }
    }

    /// An independent model of the contract: a table of open calls.
    private struct Model {
        var calls: [Int64: (method: FuzzedFrame.Method, ended: Bool)] = [:]

        mutating func outcomes(of meaning: FuzzedFrame.Meaning) -> [Outcome] {
            let bad = "INVALID_ARGUMENT"
            switch meaning {
            case .open(let id, let method):
                if calls[id] != nil { return [.refuse(id, bad)] }
                if method == .unknown { return [.refuse(id, "UNIMPLEMENTED")] }
                if calls.count == 4 { return [.refuse(id, "RESOURCE_EXHAUSTED")] }
                calls[id] = (method, false)
                return [.open(id)]
            case .unusable(let id, let opens):
                return !opens && calls.removeValue(forKey: id) != nil ? [.fail(id, bad)] : [.refuse(id, bad)]
            case .unreadable(let opens):
                let lost = calls.filter { !opens && $0.value.method == .clientStream && !$0.value.ended }
                for id in lost.keys { calls[id] = nil }
                return [.noCall(bad)] + lost.keys.sorted().map { .fail($0, bad) }
            case .item(let id):
                guard let call = calls[id] else { return [.ignore] }
                if call.method != .unary, !call.ended { return [.deliver(id)] }
                calls[id] = nil
                return [.fail(id, bad)]
            case .end(let id):
                guard let call = calls[id], call.method != .unary, !call.ended else { return [.ignore] }
                calls[id] = (call.method, true)
                return [.endInput(id)]
            case .cancel(let id): return calls.removeValue(forKey: id) != nil ? [.cancel(id)] : [.ignore]
            case .fatal(let status): return [.broken(status)]
            }
        }
    }

    @Test("each has the outcome that the contract requires, however the bytes are split") func model() {
        var inputs = 0
        for seed in 0..<UInt64(1500) {
            var random = SeededRandom(seed: seed)
            var (model, expected, bytes) = (Model(), [Outcome](), [UInt8]())
            for _ in 0..<Self.framesPerStream {
                let frame = FuzzedFrame(&random, fatal: true)
                inputs += 1
                bytes += frame.bytes
                if case .broken? = expected.last { continue }
                expected += model.outcomes(of: frame.meaning)
            }
            var receiver = Receiver()
            Self.feed(bytes, to: &receiver, &random)
            guard receiver.outcomes == expected else {
                let place = zip(receiver.outcomes, expected).prefix { $0 == $1 }.count
                Issue.record(
                    "stream \(seed), outcome \(place): \(receiver.outcomes.dropFirst(place).prefix(2)) for \(expected.dropFirst(place).prefix(2))"
                )
                return
            }
            #expect(receiver.machine.openCalls == model.calls.count)
        }
        #expect(inputs == 60_000)
    }

    @Test("corrupted messages have the same outcomes however the bytes are split, and the books balance")
    func mutations() {
        for seed in 0..<UInt64(1500) {
            var random = SeededRandom(seed: seed &+ 1 << 32)
            var bytes: [UInt8] = []
            for _ in 0..<Self.framesPerStream { bytes += FuzzedFrame(&random, fatal: false).bytes }
            for _ in 0...random.below(4) { Self.change(&bytes, &random) }
            var (whole, pieces) = (Receiver(), Receiver())
            whole.receive(bytes[...])
            Self.feed(bytes, to: &pieces, &random)
            #expect(whole.outcomes == pieces.outcomes, "stream \(seed)")
            #expect(whole.machine.openCalls == Self.openCalls(after: whole.outcomes), "stream \(seed)")
        }
    }

    private static func feed(_ bytes: [UInt8], to receiver: inout Receiver, _ random: inout SeededRandom) {
        let most = random.pick([1, 7, 100, 5000])
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + 1 + random.below(most))
            receiver.receive(bytes[start..<end])
            start = end
        }
    }

    private static func change(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        let place = random.below(bytes.count)
        switch random.below(5) {
        case 0: bytes[place] ^= 1 << UInt8(random.below(8))
        case 1: bytes[place] = UInt8(random.below(256))
        case 2: bytes.remove(at: place)
        case 3: bytes.insert(UInt8(random.below(256)), at: place)
        default:
            let part = bytes[place..<min(bytes.count, place + random.below(60))]
            bytes.insert(contentsOf: part, at: random.below(bytes.count))
        }
    }

    private static func openCalls(after outcomes: [Outcome]) -> Int {
        outcomes.reduce(0) { count, outcome in
            switch outcome {
            case .open: count + 1
            case .cancel, .fail: count - 1
            default: count
            }
        }
    }
}
