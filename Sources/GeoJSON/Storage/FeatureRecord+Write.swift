// SPDX-License-Identifier: MIT
import JSON

extension FeatureRecord {
    /// Writes the feature with its members as sent.
    @inline(__always) func write(
        into bytes: inout ByteWriter, selection: PropertySelection? = nil, precision: Int? = nil,
        leavingOut member: StaticString? = nil, mark: StaticString? = nil
    ) {
        write(
            identifier: identifier, into: &bytes, selection: selection, precision: precision,
            leavingOut: member, mark: mark)
    }

    /// The same with another id.
    @inline(__always) func write(
        identifier: UnsafeRawBufferPointer, into bytes: inout ByteWriter,
        selection: PropertySelection? = nil, precision: Int? = nil, leavingOut member: StaticString? = nil,
        mark: StaticString? = nil
    ) {
        bytes.append("{\"type\":\"Feature\"")
        if !identifier.isEmpty {
            bytes.append(",\"id\":")
            bytes.append(contentsOf: identifier)
        }
        bytes.append(",\"geometry\":{\"type\":\"Point\",\"coordinates\":")
        if let precision {
            Self.write(rounded: coordinates, precision, into: &bytes)
        } else {
            bytes.append(contentsOf: coordinates)
        }
        bytes.append("},\"properties\":")
        Self.write(properties, selection, mark: mark, into: &bytes)
        if let member, !rest.isEmpty {
            Self.write(rest: rest, leavingOut: member, into: &bytes)
        } else {
            bytes.append(contentsOf: rest)
        }
        bytes.append("}")
    }

    /// - Parameter rest: members, each after a comma.
    static func write(
        rest: UnsafeRawBufferPointer, leavingOut member: StaticString, into bytes: inout ByteWriter
    ) {
        for (key, value) in JSONMembers(ofValidated: rest) where JSONText.string(inside: key) != "\(member)" {
            bytes.append(",\"")
            bytes.append(contentsOf: key)
            bytes.append("\":")
            bytes.append(contentsOf: value)
        }
    }

    /// - Parameter mark: a property that is added with the value true, in place of one of that name.
    static func write(
        _ properties: UnsafeRawBufferPointer, _ selection: PropertySelection?, mark: StaticString? = nil,
        into bytes: inout ByteWriter
    ) {
        let isObject = properties.first == UInt8(ascii: "{")
        guard mark != nil || selection != nil && isObject else {
            bytes.append(contentsOf: properties)
            return
        }
        let members = isObject ? properties : UnsafeRawBufferPointer(start: nil, count: 0)
        bytes.append("{")
        var isFirst = true
        for (key, value) in JSONMembers(ofValidated: members) where selection?.keeps(key: key) ?? true {
            if let mark, JSONText.string(inside: key) == "\(mark)" { continue }
            bytes.append(isFirst ? "\"" : ",\"")
            bytes.append(contentsOf: key)
            bytes.append("\":")
            bytes.append(contentsOf: value)
            isFirst = false
        }
        if let mark {
            bytes.append(isFirst ? "\"" : ",\"")
            bytes.append(mark)
            bytes.append("\":true")
        }
        bytes.append("}")
    }

    /// Writes id, coordinates and properties as members of an object.
    func writeParts(into bytes: inout ByteWriter, selection: PropertySelection?, precision: Int?) {
        bytes.append("{")
        if !identifier.isEmpty {
            bytes.append("\"id\":")
            bytes.append(contentsOf: identifier)
            bytes.append(",")
        }
        bytes.append("\"coordinates\":")
        // The geometry's further members follow the array's only closing bracket.
        let end = coordinates.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? coordinates.count
        let array = UnsafeRawBufferPointer(rebasing: coordinates[..<end])
        if let precision {
            Self.write(rounded: array, precision, into: &bytes)
        } else {
            bytes.append(contentsOf: array)
        }
        bytes.append(",\"properties\":")
        Self.write(properties, selection, into: &bytes)
        bytes.append("}")
    }

    private static func write(
        rounded coordinates: UnsafeRawBufferPointer, _ precision: Int, into bytes: inout ByteWriter
    ) {
        // The geometry's further members follow the array's only closing bracket.
        let end = coordinates.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? coordinates.count
        let array = UnsafeRawBufferPointer(rebasing: coordinates[..<end])
        guard case .array(let values)? = try? JSONReader.parse(array) else {
            bytes.append(contentsOf: coordinates)
            return
        }
        bytes.append("[")
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(",") }
            if case .number(let number) = value { bytes.append(number: number.rounded(decimals: precision)) }
        }
        bytes.append("]")
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: coordinates[end...]))
    }
}

/// The names of the properties to keep in an answer.
public struct PropertySelection: Sendable, Equatable {
    private let names: [[UInt8]]

    public init(_ names: some Sequence<String>) { self.names = names.map { Array($0.utf8) } }

    /// Whether a key, given as the text between its quotation marks, is one of the names.
    public func keeps(key: UnsafeRawBufferPointer) -> Bool {
        key.contains(UInt8(ascii: "\\"))
            ? names.contains(JSONText.bytes(inside: key)) : names.contains { $0.elementsEqual(key) }
    }

    public func keeps(_ name: String) -> Bool { names.contains { $0.elementsEqual(name.utf8) } }
}
