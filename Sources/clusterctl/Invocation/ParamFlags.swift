// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import JSON

extension Option {
    /// The flags that stand for a method's params: all but those that are operands.
    ///
    /// - Parameters:
    ///   - others: params that the subcommand gives in another way.
    ///   - short: letters by the param's name.
    ///   - defaults: values by the param's name that the subcommand sends if the flag is not given.
    static func params(
        of method: MethodDeclaration, without others: [ParamDeclaration] = [],
        short: [String: Character] = [:], defaults: [String: String] = [:]
    ) -> [Option] {
        let given = operands + others
        return method.params.filter { param in !given.contains { $0 === param } }.map {
            .param($0, short: short[$0.name], default: defaults[$0.name])
        }
    }

    private static let operands: [ParamDeclaration] = [.source, .clusterID, .featureID]

    /// The flag that stands for a param: it takes the same values and has the same help and default.
    ///
    /// - Parameters:
    ///   - standard: the value that the subcommand sends if the flag is not given.
    ///   - standardInWords: what help shows as the default, if that is not the param's own.
    static func param(
        _ param: ParamDeclaration, short: Character? = nil, default standard: String? = nil,
        defaultInWords standardInWords: String? = nil, isRepeatable: Bool = false
    ) -> Option {
        var help = param.help
        if let unit = param.unit { help += ", in \(unit)" }
        if case .words(let words) = param.type { help += ": \(words.joined(separator: ", "))" }
        if param.type == .boolean { return .flag(param.flagName, short: short, help: help) }
        return Option(
            param.flagName, short: short, value: isRepeatable ? "COLUMN" : param.flagValueName,
            kind: param.type.flagKind, default: standard,
            defaultInWords: standardInWords ?? param.shownStandard, isRepeatable: isRepeatable, help: help)
    }
}

extension Invocation {
    /// A method's params: source and cluster from the operands, the others from the flags that were given.
    func params(of method: MethodDeclaration) throws -> JSONObject {
        var params = try params(of: method.params)
        if method.params.contains(where: { $0 === ParamDeclaration.source }) {
            params["source"] = .string(try operand(0))
        }
        if method.params.contains(where: { $0 === ParamDeclaration.clusterID }) {
            params["clusterId"] = .number(Double(try clusterID(1)))
        }
        return params
    }

    /// The params whose flags were given or have a default.
    func params(of declarations: [ParamDeclaration]) throws -> JSONObject {
        var params = JSONObject()
        for param in declarations {
            let flag = param.flagName
            guard let text = arguments.string(flag) else { continue }
            switch param.type {
            case .boolean: params[param.name] = .bool(true)
            case .integer, .number, .revision: params[param.name] = arguments.number(flag).map { .number($0) }
            case .box: params[param.name] = try box(text).json
            default:
                do throws(JSONError) { params[param.name] = try param.type.value(of: text) } catch {
                    throw arguments.usageError("invalid argument '\(text)' for '--\(flag)': \(error.message)")
                }
            }
        }
        return params
    }

    /// Reads the value of `--bbox`: `west,south,east,north`, spaces allowed, or `the world`.
    func box(_ text: String) throws -> BoundingBox {
        if text == BoundingBox.worldName { return .world }
        guard let box = BoundingBox(text: text) else {
            throw arguments.usageError(
                "invalid argument '\(text)' for '--bbox': west,south,east,north in degrees is expected")
        }
        guard box.south <= box.north else {
            throw arguments.usageError(
                "invalid argument '\(text)' for '--bbox': its south is above its north; the order is "
                    + "west,south,east,north")
        }
        return box
    }

    /// Calls a method on a new connection, with the params of operands and flags.
    func call(_ method: MethodDeclaration, with others: JSONObject = [:]) async throws -> Answer {
        try await call(method.fullName, CallParams(try params(of: method).with(others)))
    }
}

extension ParamDeclaration {
    /// What help shows for the flag's value.
    fileprivate var flagValueName: String {
        switch type {
        case .integer, .revision: "N"
        case .box: "W,S,E,N"
        case .strings, .words: "NAME,..."
        case .numbers: "N,..."
        case .featureIDs: "ID,..."
        case .window: "NAME,FROM,TO"
        case .expression: "EXPRESSION"
        case .value: "JSON"
        case .logPosition: "POSITION"
        default: (flagName.split(separator: "-").last ?? "").uppercased()
        }
    }
}

extension ParamType {
    fileprivate var flagKind: ValueKind {
        switch self {
        case .integer(let range): .integer(range)
        // Numbers without a range are zooms. The daemon limits them to those of the source; one beyond every map's is a
        // mistake.
        case .number(let range): .number(range ?? -30...30)
        case .revision: .integer(0...(1 << 53))
        case .word(let words): .oneOf(words)
        default: .text
        }
    }
}

extension BoundingBox {
    /// What the command line calls the largest box.
    static let worldName = "the world"

    /// Four numbers between commas, with spaces around them or not; nil if the text is anything else.
    init?(text: String) {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            part.wholeMatch(of: /\ *([^ ]*)\ */).flatMap { Double($0.1) }
        }
        guard numbers.count == 4, let west = numbers[0], let south = numbers[1], let east = numbers[2],
            let north = numbers[3], [west, south, east, north].allSatisfy(\.isFinite)
        else { return nil }
        self.init(west: west, south: south, east: east, north: north)
    }
}
