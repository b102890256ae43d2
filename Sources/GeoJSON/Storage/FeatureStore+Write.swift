// SPDX-License-Identifier: MIT
import JSON

/// Names of properties that an answer keeps.
public struct PropertySelection: Sendable {
    private let names: [[UInt8]]

    public init(_ names: some Sequence<String>) { self.names = names.map { Array($0.utf8) } }

    /// Whether a key, as it stands between its quotation marks, is one of the names.
    func keeps(key: UnsafeRawBufferPointer) -> Bool {
        if key.contains(UInt8(ascii: "\\")) {
            let decoded = Array(JSONText.string(inside: key).utf8)
            return names.contains(decoded)
        }
        return names.contains { $0.elementsEqual(key) }
    }

    public func keeps(_ name: String) -> Bool { names.contains { $0.elementsEqual(name.utf8) } }
}

extension FeatureStore {
    /// Writes a feature with its members as they were sent.
    ///
    /// - Parameters:
    ///   - selection: the properties to keep; nil keeps all.
    ///   - precision: to how many decimals coordinates are rounded; nil leaves them as they were sent.
    ///   - member: a member of the feature to leave out, none of GeoJSON's.
    /// - Complexity: O(the feature's text), without allocation.
    public func write(
        _ index: Int, into bytes: inout ByteWriter, selection: PropertySelection? = nil,
        precision: Int? = nil,
        leavingOut member: StaticString? = nil
    ) {
        Self.write(
            record(index), into: &bytes, selection: selection, precision: precision, leavingOut: member)
    }

    /// The same of the feature at a place among those that were prepared.
    public func write(
        _ place: Int, of prepared: PreparedFeatures, into bytes: inout ByteWriter,
        selection: PropertySelection? = nil, precision: Int? = nil
    ) {
        Self.write(
            prepared.records[place], into: &bytes, selection: selection, precision: precision,
            leavingOut: nil)
    }

    @inline(__always) private static func write(
        _ record: FeatureRecord, into bytes: inout ByteWriter, selection: PropertySelection?,
        precision: Int?, leavingOut member: StaticString?
    ) {
        bytes.append("{\"type\":\"Feature\"")
        if !record.identifier.isEmpty {
            bytes.append(",\"id\":")
            bytes.append(contentsOf: record.identifier)
        }
        bytes.append(",\"geometry\":{\"type\":\"Point\",\"coordinates\":")
        if let precision {
            Self.write(rounded: record.coordinates, precision, into: &bytes)
        } else {
            bytes.append(contentsOf: record.coordinates)
        }
        bytes.append("},\"properties\":")
        Self.write(record.properties, selection, into: &bytes)
        if let member, !record.rest.isEmpty {
            Self.write(rest: record.rest, leavingOut: member, into: &bytes)
        } else {
            bytes.append(contentsOf: record.rest)
        }
        bytes.append("}")
    }

    /// - Parameter rest: members, each with a comma before it.
    private static func write(
        rest: UnsafeRawBufferPointer, leavingOut member: StaticString, into bytes: inout ByteWriter
    ) {
        for (key, value) in JSONMembers(ofValidated: rest)
        where JSONText.string(inside: key) != "\(member)" {
            bytes.append(",\"")
            bytes.append(contentsOf: key)
            bytes.append("\":")
            bytes.append(contentsOf: value)
        }
    }

    /// Writes a feature's properties: an object or null.
    public func writeProperties(
        _ index: Int, into bytes: inout ByteWriter, selection: PropertySelection? = nil
    ) {
        Self.write(record(index).properties, selection, into: &bytes)
    }

    /// Writes a feature's id; nothing where it has none.
    public func writeIdentifier(_ index: Int, into bytes: inout ByteWriter) {
        bytes.append(contentsOf: record(index).identifier)
    }

    private static func write(
        _ properties: UnsafeRawBufferPointer, _ selection: PropertySelection?, into bytes: inout ByteWriter
    ) {
        guard let selection, properties.first == UInt8(ascii: "{") else {
            bytes.append(contentsOf: properties)
            return
        }
        bytes.append("{")
        var isFirst = true
        for (key, value) in JSONMembers(ofValidated: properties) where selection.keeps(key: key) {
            bytes.append(isFirst ? "\"" : ",\"")
            bytes.append(contentsOf: key)
            bytes.append("\":")
            bytes.append(contentsOf: value)
            isFirst = false
        }
        bytes.append("}")
    }

    private static func write(
        rounded coordinates: UnsafeRawBufferPointer, _ precision: Int, into bytes: inout ByteWriter
    ) {
        // The geometry's further members follow the array, which has no other bracket.
        let end = coordinates.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? coordinates.count
        let array = UnsafeRawBufferPointer(rebasing: coordinates[..<end])
        guard case .array(let values)? = try? JSONReader.parse(array) else {
            bytes.append(contentsOf: coordinates)
            return
        }
        bytes.append("[")
        for (place, value) in values.enumerated() {
            if place > 0 { bytes.append(",") }
            if case .number(let number) = value { bytes.append(number: number.rounded(decimals: precision)) }
        }
        bytes.append("]")
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: coordinates[end...]))
    }
}

extension Double {
    /// The nearest number with so many decimals, halves away from zero.
    public func rounded(decimals: Int) -> Double {
        var scale = 1.0
        for _ in 0..<max(0, min(decimals, 17)) { scale *= 10 }
        let scaled = self * scale
        return scaled.isFinite && abs(scaled) < 0x1p53 ? scaled.rounded() / scale : self
    }
}
