// SPDX-License-Identifier: MIT
import GeoJSON
import JSON

extension Client {
    /// Streams a file's features into an existing source: all or nothing.
    ///
    /// The file is read in pieces, whatever its size, by the same reader that the daemon uses for files: GeoJSON in any
    /// layout, or a table with a header, plain or gzipped. Each feature is checked here as the daemon would check it,
    /// so that errors name the line. If the input is a pipe, reading blocks the task's thread.
    ///
    /// - Parameter progress: called after each message, on the calling task.
    /// - Returns: the source's description with `accepted`, `skipped`, `skippedReasons`, and `warnings` if any.
    /// - Throws: `FeatureInputError`, `FeatureTextError`, or the errors of any call; the source is then unchanged.
    public func importFeatures(
        _ input: consuming FeatureInput, into source: String, options: ImportOptions = .init(),
        call callOptions: CallOptions = .init(), progress: (ImportProgress) -> Void = { _ in }
    ) async throws -> Answer {
        let description = try await self.source(source)
        let sieve = Self.sieve(for: description, options)
        let call = try openClientStream(
            "SourceService/ImportFeatures", CallParams(Self.params(source, options)), options: callOptions)
        do {
            var isAtEnd = false
            while !isAtEnd {
                var failure: GeoJSONError?
                isAtEnd = try !input.read { bytes in
                    do throws(GeoJSONError) { try sieve.push(bytes) } catch { failure = error }
                }
                if let failure { throw FeatureTextError(failure) }
                if isAtEnd { try Self.finish(sieve, description, options) }
                while let batch = sieve.nextBatch() {
                    try await call.send { bytes in
                        bytes.append("{\"features\":[")
                        bytes.append(contentsOf: batch)
                        bytes.append("]}")
                    }
                    progress(ImportProgress(bytesRead: input.bytesRead, features: sieve.accepted, isSent: false))
                }
            }
            progress(ImportProgress(bytesRead: input.bytesRead, features: sieve.accepted, isSent: true))
            return try await call.finish().adding(sieve)
        } catch {
            call.cancel()
            throw error
        }
    }

    private static func params(_ source: String, _ options: ImportOptions) -> JSONObject {
        var params: JSONObject = [
            "source": .string(source), "mode": .string(options.appends ? "append" : "replace"),
            "onInvalid": .string(options.skipsInvalid ? "skip" : "reject"),
        ]
        if options.wrapsLongitudes { params["wrap"] = .bool(true) }
        if options.allowsEmpty { params["allowEmpty"] = .bool(true) }
        return params
    }

    /// Returns a checker that applies the source's own rules to features.
    private static func sieve(for description: SourceDescription, _ options: ImportOptions) -> FeatureSieve {
        var rules = FeatureRules(options: description.options)
        rules.wrapsLongitudes = options.wrapsLongitudes
        let sieve = FeatureSieve(
            FeatureFormat(.automatic, table: options.columns), rules: rules,
            policy: options.skipsInvalid ? .skip : .reject, batchSize: options.batchSize)
        if let onSkipped = options.onSkipped {
            sieve.onSkipped = { feature, text in
                onSkipped(
                    SkippedFeature(
                        index: feature.index, line: feature.line, identifier: feature.identifier,
                        reason: feature.fault.rawValue, message: feature.message, text: Array(text)))
            }
        }
        return sieve
    }

    private static func finish(
        _ sieve: FeatureSieve, _ description: SourceDescription, _ options: ImportOptions
    ) throws(FeatureTextError) {
        do throws(GeoJSONError) { try sieve.finish() } catch { throw FeatureTextError(error) }
        let replaces = !options.appends && !options.allowsEmpty && description.points > 0
        if replaces, sieve.isBlank {
            throw FeatureTextError(
                message: "the text is empty or a header alone, and the import would replace the source's data with "
                    + "nothing; params.allowEmpty allows that")
        }
        guard replaces, sieve.accepted == 0, sieve.skipped > 0 else { return }
        let reasons = sieve.skippedReasons.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        let advice = sieve.warnings.map { "; \($0)" }.joined()
        throw FeatureTextError(
            message: "none of \(sieve.skipped) features is valid (\(reasons.joined(separator: ", "))), and the import "
                + "would replace the source's data with nothing; params.allowEmpty allows that\(advice)")
    }
}

extension FeatureRules {
    /// - Parameter options: a source's options, as its description contains them.
    init(options: JSONObject) {
        self.init(promoteId: options["promoteId"]?.asString)
        if let name = options["geometries"]?.asString, let placing = GeometryPlacing(rawValue: name) {
            geometries = placing
        }
        guard let box = options["projection"]?.asObject?["planar"]?.asArray?.compactMap(\.asNumber),
            box.count == 4
        else { return }
        bounds = CoordinateBounds(minX: box[0], minY: box[1], maxX: box[2], maxY: box[3])
    }
}

extension Answer {
    /// The answer of an import, with the features skipped on this side and the warnings found here added.
    fileprivate func adding(_ sieve: FeatureSieve) throws -> Answer {
        let warnings = sieve.warnings
        guard sieve.skipped > 0 || !warnings.isEmpty, var object = try value().asObject else { return self }
        var reasons = object["skippedReasons"]?.asObject ?? [:]
        for (reason, count) in sieve.skippedReasons.sorted(by: { $0.key < $1.key }) {
            reasons[reason] = .number((reasons[reason]?.asNumber ?? 0) + Double(count))
        }
        object["skippedReasons"] = .object(reasons)
        object["skipped"] = .number((object["skipped"]?.asNumber ?? 0) + Double(sieve.skipped))
        if !warnings.isEmpty {
            object["warnings"] = .array(warnings.map { .string($0) } + (object["warnings"]?.asArray ?? []))
        }
        return Answer(bytes: Array(JSONValue.object(object).text.utf8))
    }
}

/// The meaning of a table's columns.
public typealias TableColumns = GeoJSON.TableColumns

/// How to import features into a source.
public struct ImportOptions: Sendable {
    /// Whether features are added to the existing ones instead of replacing them.
    public var appends = false
    /// Whether invalid features are skipped and counted instead of failing the whole import.
    public var skipsInvalid = false
    /// Whether longitudes beyond ±180 are wrapped into range.
    public var wrapsLongitudes = false
    /// Whether the data may be replaced with nothing when no feature is valid.
    public var allowsEmpty = false
    /// The meaning of a table's columns.
    public var columns = TableColumns()
    /// Bytes of features per message.
    public var batchSize = 1 << 20
    /// Called with each invalid feature that is skipped, on the calling task.
    public var onSkipped: (@Sendable (SkippedFeature) -> Void)?

    public init(appends: Bool = false, skipsInvalid: Bool = false) {
        self.appends = appends
        self.skipsInvalid = skipsInvalid
    }
}

/// The progress of an import.
public struct ImportProgress: Sendable, Equatable {
    /// Bytes read from the file as stored (compressed or not).
    public var bytesRead: Int
    /// Features sent.
    public var features: Int
    /// Whether everything is sent and the server's answer is pending.
    public var isSent: Bool
}

/// An invalid feature that an import skipped.
public struct SkippedFeature: Sendable, Equatable {
    /// Its index in the import, from 0, counting valid and invalid features.
    public let index: Int
    /// The line on which it begins, from 1.
    public let line: Int?
    /// Its id as JSON text; nil if it is unknown.
    public let identifier: String?
    /// Why it is invalid, as the key under which answers count it.
    public let reason: String
    /// Why it is invalid, in words for a person.
    public let message: String
    /// Its text as read.
    public let text: [UInt8]
}
