// SPDX-License-Identifier: MIT
// Reads the daemon's answers in columns (Arrow's IPC stream). Numbers are views of the answer's own bytes: nothing is copied.
// Apache's library apache-arrow reads them too, and every other Arrow stream.

const schemaHeader = 1, batchHeader = 3;
const integer = 2, double = 3, utf8 = 5, bool = 6, struct = 13;

/** A table of a FlatBuffers message. */
class Table {
    constructor(view, position) {
        Object.assign(this, { view, position });
    }

    /** Where a field is; undefined if the table lacks it. */
    field(number) {
        const { view, position } = this;
        const list = position - view.getInt32(position, true);
        const offset = 4 + 2 * number < view.getUint16(list, true) ? view.getUint16(list + 4 + 2 * number, true) : 0;
        return offset ? position + offset : undefined;
    }

    target(number) {
        const at = this.field(number);
        return at === undefined ? undefined : at + this.view.getUint32(at, true);
    }

    table(number) {
        return new Table(this.view, this.target(number));
    }

    byte(number) {
        const at = this.field(number);
        return at === undefined ? 0 : this.view.getUint8(at);
    }

    long(number) {
        const at = this.field(number);
        return at === undefined ? 0 : Number(this.view.getBigInt64(at, true));
    }

    text(number) {
        const start = this.target(number);
        return new TextDecoder().decode(new Uint8Array(this.view.buffer, start + 4, this.view.getUint32(start, true)));
    }

    /** The offsets of a vector's elements. */
    vector(number, size) {
        const start = this.target(number);
        return start === undefined ? [] : Array.from({ length: this.view.getUint32(start, true) }, (_, index) => start + 4 + size * index);
    }

    tables(number) {
        return this.vector(number, 4).map((at) => new Table(this.view, at + this.view.getUint32(at, true)));
    }

    pairs(number) {
        return this.vector(number, 16).map((at) => [0, 8].map((part) => Number(this.view.getBigInt64(at + part, true))));
    }
}

/**
 * A column of a batch. `values` are its numbers (Float64Array, BigInt64Array or BigUint64Array; none of other types), and `get`
 * is a row's value; null if it has none.
 */
class Column {
    constructor(field, next, buffer) {
        const kind = field.byte(2);
        const isSigned = kind === integer && field.table(3).byte(1) !== 0;
        const bytes = ([start, length]) => new Uint8Array(buffer, start, length);
        const bit = (bits, row) => (bits[row >> 3] >> (row & 7)) & 1;
        const validity = bytes(next());
        this.isValid = (row) => validity.length === 0 || bit(validity, row) === 1;
        if (kind === struct) {
            const members = field.tables(5).map((member) => [member.text(0), new Column(member, next, buffer)]);
            this.get = (row) => Object.fromEntries(members.map(([name, column]) => [name, column.get(row)]));
            return;
        }
        if (kind === utf8) {
            const [start, length] = next();
            const ends = new Int32Array(buffer, start, length / 4);
            const text = bytes(next());
            this.get = (row) => (this.isValid(row) ? new TextDecoder().decode(text.subarray(ends[row], ends[row + 1])) : null);
            return;
        }
        const [start, length] = next();
        if (kind === bool) {
            const bits = bytes([start, length]);
            this.get = (row) => (this.isValid(row) ? bit(bits, row) === 1 : null);
            return;
        }
        const Numbers = kind === double ? Float64Array : isSigned ? BigInt64Array : BigUint64Array;
        this.values = new Numbers(buffer, start, length / 8);
        this.get = (row) => (this.isValid(row) ? this.values[row] : null);
    }
}

/**
 * @param {ArrayBuffer} buffer a whole stream
 * @returns {{metadata: Record<string, any>, batches: {length: number, columns: Record<string, Column>}[]}}
 */
export function readColumns(buffer) {
    const view = new DataView(buffer);
    const batches = [];
    let fields = [], metadata = {}, offset = 0;
    for (;;) {
        if (offset + 8 > buffer.byteLength || view.getUint32(offset, true) !== 0xffffffff) throw new Error("the stream was cut off");
        const headerLength = view.getUint32(offset + 4, true);
        if (headerLength === 0) return { metadata, batches };
        const start = offset + 8;
        const message = new Table(view, start + view.getUint32(start, true));
        const body = start + headerLength;
        const content = message.table(2);
        if (message.byte(1) === schemaHeader) {
            fields = content.tables(1);
            metadata = Object.fromEntries(content.tables(2).map((pair) => [pair.text(0), JSON.parse(pair.text(1))]));
        } else if (message.byte(1) === batchHeader) {
            const buffers = content.pairs(2).map(([at, length]) => [body + at, length]);
            const next = () => buffers.shift();
            batches.push({ length: content.long(0), columns: Object.fromEntries(fields.map((field) => [field.text(0), new Column(field, next, buffer)])) });
        }
        offset = body + message.long(3);
    }
}
