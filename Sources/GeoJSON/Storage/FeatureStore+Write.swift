// SPDX-License-Identifier: MIT
import JSON

extension FeatureStore {
    /// Writes a feature with its members as they were sent.
    ///
    /// - Parameters:
    ///   - selection: the properties to keep; nil keeps all.
    ///   - precision: the number of decimals of coordinates; nil leaves them as sent.
    ///   - member: a foreign member of the feature to omit.
    ///   - mark: a property that is added with the value true, in place of one of that name.
    /// - Complexity: O(the feature's text), without allocation.
    public func write(
        _ index: Int, into bytes: inout ByteWriter, selection: PropertySelection? = nil, precision: Int? = nil,
        leavingOut member: StaticString? = nil, mark: StaticString? = nil
    ) {
        withRecord(index) {
            $0.write(into: &bytes, selection: selection, precision: precision, leavingOut: member, mark: mark)
        }
    }

    /// Writes a feature's id, coordinates and properties as an object; without `id` if it has none.
    public func writeParts(
        _ index: Int, into bytes: inout ByteWriter, selection: PropertySelection? = nil, precision: Int? = nil
    ) {
        withRecord(index) { $0.writeParts(into: &bytes, selection: selection, precision: precision) }
    }

    /// Writes a feature as it was sent, with its original id even if a property is promoted, so that it can
    /// be read again.
    public func writeSent(_ index: Int, into bytes: inout ByteWriter) {
        withRecord(index) { $0.write(identifier: $0.sentIdentifier, into: &bytes) }
    }

    /// The same for a feature by its index among the prepared ones.
    public func write(
        _ position: Int, of prepared: PreparedFeatures, into bytes: inout ByteWriter,
        selection: PropertySelection? = nil, precision: Int? = nil
    ) {
        prepared.records[position].write(into: &bytes, selection: selection, precision: precision)
    }

    /// Writes a feature's properties: an object or null.
    ///
    /// - Parameter mark: a property that is added with the value true, in place of one of that name.
    public func writeProperties(
        _ index: Int, into bytes: inout ByteWriter, selection: PropertySelection? = nil, mark: StaticString? = nil
    ) {
        withRecord(index) { FeatureRecord.write($0.properties, selection, mark: mark, into: &bytes) }
    }

    /// Writes a feature's id; nothing if it has none.
    public func writeIdentifier(_ index: Int, into bytes: inout ByteWriter) {
        withRecord(index) { bytes.append(contentsOf: $0.identifier) }
    }
}
