// SPDX-License-Identifier: MIT
import Responses
import ClusterProtocol
import GeoJSON
import JSON
import SourceEngine

/// `ImportFeatures`: imports the features in the client's items, all or nothing.
struct ImportFeatures: ClientStreamMethod {
    let declaration = MethodDeclaration.importFeatures
    let catalog: SourceCatalog

    func begin(_ params: Params, _ call: CallContext) throws(RPCError) -> any ClientStream {
        let options = try ImportParams(params)
        var format = options.format
        if case .bytes(let mediaType) = call.input {
            format.kind = FeatureFormat(mediaType: mediaType)?.kind ?? .automatic
        } else {
            // Params that describe a file's text do not apply to items.
            try params.rejectUnknown(([.source] + ParamDeclaration.imports).map(\.name))
        }
        let source = try catalog.sourceToChange(params, call, insteadOf: .features)
        let features = FeatureImport(
            into: source, mode: options.mode, policy: options.policy, format: format,
            wrapsLongitudes: options.wraps, allowsEmpty: options.allowsEmpty)
        return FeatureImportStream(features, call, source.name, catalog.settings.values.limits.buildThreads)
    }
}

/// One import: of items, which are `{"features":[…]}` or texts, or of a file's bytes, which arrive in pieces of any
/// size.
private final class FeatureImportStream: ClientStream {
    private let features: FeatureImport
    private let call: CallContext
    private let threads: Int
    let subject: PoolSubject?

    init(_ features: FeatureImport, _ call: CallContext, _ source: SourceName, _ threads: Int) {
        (self.features, self.call, self.threads) = (features, call, threads)
        subject = .data(source)
    }

    private var isFile: Bool { if case .bytes = call.input { true } else { false } }

    func receive(_ item: [UInt8]) throws(RPCError) {
        try call.check()
        let list = call.input == .items ? try Self.features(item) : item
        try answering(call) { () throws(SourceError) in
            switch call.input {
            case .items: try features.add(features: list)
            case .texts: try features.add(text: list, threads: threads)
            case .bytes: try features.push(list, threads: threads)
            }
        }
    }

    /// The text of an item's features. The item is known to be a JSON object since its message was read.
    private static func features(_ item: [UInt8]) throws(RPCError) -> [UInt8] {
        let name = Array("features".utf8)
        let members = JSONText.members(ofValidated: item[...]) ?? [:]
        if let unknown = members.keys.first(where: { $0 != name }) {
            throw .invalidParam("item.\(String(decoding: unknown, as: UTF8.self))", "is unknown.")
        }
        guard let features = members[name], features.first == UInt8(ascii: "[") else {
            throw .invalidParam("item.features", "must be an array of GeoJSON features.")
        }
        return features
    }

    func finish(into bytes: inout ByteWriter) throws(RPCError) {
        try answering(call) { () throws(SourceError) in
            // An empty body is a text too, although no piece of it came.
            if isFile { try features.push([], threads: threads) }
            try features.finish(call, into: &bytes)
        }
    }

    func cancelled() { features.cancel() }
}

extension FeatureImport {
    /// Makes the imported features the source's data, and writes the outcome.
    fileprivate func finish(_ call: CallContext, into bytes: inout ByteWriter) throws(SourceError) {
        let outcome = try finish(call.cancellation)
        call.noteChanged(outcome.accepted)
        outcome.write(into: &bytes)
    }
}

/// The params that all imports share: how to import features, and how to read their text.
struct ImportParams {
    let mode: ImportMode
    let policy: InvalidFeaturePolicy
    /// Whether longitudes beyond ±180 are wrapped into range.
    let wraps: Bool
    /// Whether the data may be replaced with nothing when no feature is valid.
    let allowsEmpty: Bool
    let format: FeatureFormat

    init(_ params: Params) throws(RPCError) {
        mode = try params.word(.mode)
        policy = try params.word(.onInvalid)
        wraps = try params.flag(.wrap)
        allowsEmpty = try params.flag(.allowEmpty)
        var columns = TableColumns()
        columns.longitude = try params.optionalString(.longitude)
        columns.latitude = try params.optionalString(.latitude)
        columns.id = try params.optionalString(.idColumn)
        columns.text = Set(try params.optionalStrings(.text) ?? [])
        if let name = try params.optionalString(.delimiter) {
            guard let delimiter = TableColumns.delimiter(named: name) else {
                throw params.invalid(.delimiter, "must be one character that separates cells, or \"tab\".")
            }
            columns.delimiter = delimiter
        }
        format = FeatureFormat(.automatic, table: columns)
    }
}

/// `LoadFile`: imports features from a file that the daemon reads, or attaches an image.
struct LoadFile: UnaryMethod {
    let declaration = MethodDeclaration.loadFile
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let source = try catalog.sourceToChange(params, call, insteadOf: .features, replacesImage: true)
        let path = try params.string(.path)
        let settings = catalog.settings.values
        let options = try ImportParams(params)
        return PreparedAnswer(isQuick: false, subject: .file(source.name)) { (call, bytes) throws(RPCError) in
            try answering(call) { () throws(SourceError) in
                let file = try settings.importDirectories.open(path)
                if Source.isImage(file) {
                    guard options.mode == .replace else {
                        throw .invalidParameter(path: "mode", message: "must be \"replace\": the file is an image")
                    }
                    let outcome = try source.attach(file, call.cancellation)
                    call.noteChanged(outcome.accepted)
                    return outcome.write(into: &bytes)
                }
                try source.checkWritable(.features)
                try ImportDirectories.check(file, maximumBytes: settings.limits.maxFileBytes)
                let load = FeatureImport(
                    into: source, mode: options.mode, policy: options.policy, format: options.format,
                    wrapsLongitudes: options.wraps, allowsEmpty: options.allowsEmpty)
                try load.read(file, threads: settings.limits.buildThreads, call.cancellation)
                try load.finish(call, into: &bytes)
            }
        }
    }
}
