// SPDX-License-Identifier: MIT
import ClusterProtocol
import GeoJSON
import Answers
import Sources
import JSON

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
            try params.rejectUnknown(["source", "mode", "onInvalid", "wrap", "allowEmpty"])
        }
        let source = try catalog.sourceToChange(params, call, insteadOf: .features)
        let features = FeatureImport(
            into: source, mode: options.mode, policy: options.policy, format: format,
            wrapsLongitudes: options.wraps, allowsEmpty: options.allowsEmpty)
        guard case .bytes = call.input else { return FeatureImportStream(features, call, source.name) }
        return FileImportStream(
            features, call, source.name, threads: catalog.settings.values.limits.buildThreads)
    }
}

/// Imports a file's bytes, which arrive in pieces of any size.
private final class FileImportStream: ClientStream {
    private let features: FeatureImport
    private let call: CallContext
    private let threads: Int
    let subject: PoolSubject?

    init(_ features: FeatureImport, _ call: CallContext, _ source: SourceName, threads: Int) {
        self.features = features
        self.call = call
        subject = .data(source)
        self.threads = threads
    }

    func receive(_ piece: [UInt8]) throws(RPCError) {
        try call.check()
        try piece.withUnsafeBufferPointer { (piece) throws(RPCError) in
            try answering(call) { () throws(SourceError) in
                try features.push(UnsafeRawBufferPointer(piece), threads: threads)
            }
        }
    }

    func finish(into bytes: inout ByteWriter) throws(RPCError) {
        try answering(call) { () throws(SourceError) in
            // An empty body is a text too, although no piece of it came.
            try features.push(UnsafeRawBufferPointer(start: nil, count: 0), threads: threads)
            let outcome = try features.finish(call.cancellation)
            call.noteChanged(outcome.accepted)
            outcome.write(into: &bytes)
        }
    }

    func cancelled() { features.cancel() }
}

/// One import, whose items are `{"features":[…]}`.
private final class FeatureImportStream: ClientStream {
    private let features: FeatureImport
    private let call: CallContext
    let subject: PoolSubject?

    init(_ features: FeatureImport, _ call: CallContext, _ source: SourceName) {
        self.features = features
        self.call = call
        subject = .data(source)
    }

    func receive(_ item: [UInt8]) throws(RPCError) {
        try call.check()
        try item.withUnsafeBufferPointer { (item) throws(RPCError) in
            let list = try Self.features(UnsafeRawBufferPointer(item))
            try answering(call) { () throws(SourceError) in try features.add(features: list) }
        }
    }

    /// The text of an item's features. The item is known to be a JSON object since its message was read.
    private static func features(_ item: UnsafeRawBufferPointer) throws(RPCError) -> UnsafeRawBufferPointer {
        var features: UnsafeRawBufferPointer?
        for (key, value) in JSONMembers(ofValidated: item) {
            let name = JSONText.string(inside: key)
            guard name.hasSameBytes(as: "features") else {
                throw .invalidParam("item.\(name)", "is unknown.")
            }
            features = value
        }
        guard let features, features.first == UInt8(ascii: "[") else {
            throw .invalidParam("item.features", "must be an array of GeoJSON features.")
        }
        return features
    }

    func finish(into bytes: inout ByteWriter) throws(RPCError) {
        try answering(call) { () throws(SourceError) in
            let outcome = try features.finish(call.cancellation)
            call.noteChanged(outcome.accepted)
            outcome.write(into: &bytes)
        }
    }

    func cancelled() {
        features.cancel()
    }
}
