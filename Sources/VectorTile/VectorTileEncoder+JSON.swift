// SPDX-License-Identifier: MIT
import JSON

extension VectorTileEncoder {
    /// Adds the members of a JSON object to the current feature as tags.
    ///
    /// - Parameter json: the validated text of an object; `null` and an empty text have no tags. Of text that
    ///   is not JSON, what cannot be read is left out.
    /// - Complexity: O(length).
    public mutating func tags(json: UnsafeRawBufferPointer) {
        var scanner = PropertiesScanner(json)
        guard scanner.take(UInt8(ascii: "{")) else { return }
        repeat {
            guard let key = key(&scanner), scanner.take(UInt8(ascii: ":")) else { return }
            scanner.skipSpaces()
            setTag(key, valueNumber(&scanner))
        } while scanner.take(UInt8(ascii: ","))
    }

    /// Reads a key; nil if there is none.
    @inline(__always) private mutating func key(_ scanner: inout PropertiesScanner) -> UInt32? {
        scanner.skipSpaces()
        if scanner.byte == UInt8(ascii: "\""), let key = likelyKey(scanner.text, at: scanner.offset &+ 1) {
            scanner.offset &+= key.length &+ 2
            return key.number
        }
        guard let name = scanner.string() else { return nil }
        let inside = scanner.bytes(name.inside)
        return name.hasEscapes ? decodedKey(inside) : keyNumber(unescaped: inside)
    }

    /// The value of a JSON text; nil for null.
    mutating func valueNumber(json: UnsafeRawBufferPointer) -> UInt32? {
        var scanner = PropertiesScanner(json)
        return valueNumber(&scanner)
    }

    /// Reads a value; nil for null.
    @inline(__always) private mutating func valueNumber(_ scanner: inout PropertiesScanner) -> UInt32? {
        switch scanner.byte {
        case UInt8(ascii: "\""):
            guard let text = scanner.string() else { return nil }
            let inside = scanner.bytes(text.inside)
            return text.hasEscapes ? decodedValue(inside) : valueNumber(string: inside)
        case UInt8(ascii: "t"):
            _ = scanner.word()
            return valueNumber(true)
        case UInt8(ascii: "f"):
            _ = scanner.word()
            return valueNumber(false)
        case UInt8(ascii: "n"):
            _ = scanner.word()
            return nil
        case UInt8(ascii: "["), UInt8(ascii: "{"): return compactValue(scanner.bytes(scanner.nested()))
        default:
            if let number = scanner.smallInteger() { return valueNumber(number) }
            switch NumberText.parse(scanner.bytes(scanner.word())) {
            case .whole(let number): return valueNumber(number)
            case .large(let number): return valueNumber(large: number)
            case .double(let number): return valueNumber(number)
            case nil: return nil
            }
        }
    }

    private mutating func decodedKey(_ inside: UnsafeRawBufferPointer) -> UInt32 {
        var text = StringEscapes.decode(inside)
        return text.withUTF8 { keyNumber(UnsafeRawBufferPointer($0)) }
    }

    private mutating func decodedValue(_ inside: UnsafeRawBufferPointer) -> UInt32 {
        var text = StringEscapes.decode(inside)
        return text.withUTF8 { valueNumber(string: UnsafeRawBufferPointer($0)) }
    }

    /// The text of an array or object without the spaces between its parts.
    private mutating func compactValue(_ json: UnsafeRawBufferPointer) -> UInt32 {
        var compact: [UInt8] = []
        compact.reserveCapacity(json.count)
        var scanner = PropertiesScanner(json)
        while let byte = scanner.byte {
            let start = scanner.offset
            if byte == UInt8(ascii: "\"") {
                guard scanner.string() != nil else { break }
                compact.append(contentsOf: json[start..<scanner.offset])
            } else {
                if byte > UInt8(ascii: " ") { compact.append(byte) }
                scanner.offset += 1
            }
        }
        return compact.withUnsafeBytes { valueNumber(string: $0) }
    }
}

extension VectorTileEncoder {
    /// Adds the four tags of a cluster to the current feature, as supercluster has them. The result is that
    /// of their JSON, which does not have to be written for it.
    ///
    /// - Parameters:
    ///   - id: the cluster's id, at most 2^53 in magnitude.
    ///   - pointCount: the number of its points.
    ///   - abbreviatedCount: the count for a label as JSON text, a number or string.
    public mutating func clusterTags(id: Int64, pointCount: Int, abbreviatedCount: UnsafeRawBufferPointer) {
        let cluster = keyNumber("cluster")
        setTag(cluster, valueNumber(true))
        let clusterId = keyNumber("cluster_id")
        setTag(clusterId, valueNumber(id))
        let count = keyNumber("point_count")
        setTag(count, valueNumber(Int64(pointCount)))
        let abbreviated = keyNumber("point_count_abbreviated")
        setTag(abbreviated, valueNumber(json: abbreviatedCount))
    }

    @inline(__always) private mutating func keyNumber(_ key: StaticString) -> UInt32 {
        keyNumber(unescaped: UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
    }
}
