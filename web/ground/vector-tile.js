// SPDX-License-Identifier: MIT
// Reads Mapbox Vector Tiles 2: https://github.com/mapbox/vector-tile-spec

/**
 * @typedef {object} TileFeature
 * @property {number} type 1 points, 2 lines, 3 areas
 * @property {number|undefined} id
 * @property {Record<string, string|number|boolean>} properties
 * @property {Float32Array[]} paths x and y in turn; parts of the tile's side, from its north-west corner
 */

/** Walks the fields of a protobuf message. */
class Message {
    /** @param {Uint8Array} bytes */
    constructor(bytes) {
        this.bytes = bytes;
        this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        this.at = 0;
    }

    varint() {
        let value = 0;
        for (let factor = 1; ; factor *= 128) {
            const byte = this.bytes[this.at++];
            if (byte === undefined) throw new RangeError("the tile ends too early");
            value += (byte & 127) * factor;
            if (byte < 128) return value;
        }
    }

    /** The next field: its number and its value, which is a number or bytes; undefined at the end. */
    next() {
        if (this.at >= this.bytes.length) return undefined;
        const tag = this.varint();
        const number = Math.floor(tag / 8);
        switch (tag & 7) {
            case 0: return { number, value: this.varint() };
            case 1: return { number, value: this.view.getFloat64((this.at += 8) - 8, true) };
            case 2: {
                const length = this.varint();
                return { number, value: this.bytes.subarray(this.at, (this.at += length)) };
            }
            case 5: return { number, value: this.view.getFloat32((this.at += 4) - 4, true) };
            default: throw new RangeError("the tile is damaged");
        }
    }

    *[Symbol.iterator]() {
        for (let field; (field = this.next()); ) yield field;
    }
}

const text = new TextDecoder();
const signed = (value) => (value % 2 ? -(value + 1) / 2 : value / 2);

function propertyValue(bytes) {
    for (const { number, value } of new Message(bytes)) {
        if (number === 1) return text.decode(value);
        if (number === 6) return signed(value);
        if (number === 7) return value === 1;
        return value;
    }
    return undefined;
}

function packed(bytes) {
    const message = new Message(bytes);
    const list = [];
    while (message.at < bytes.length) list.push(message.varint());
    return list;
}

/** Commands of moves and lines as paths. */
function pathsOf(commands, extent) {
    const paths = [];
    let [x, y, path] = [0, 0, []];
    for (let at = 0; at < commands.length; ) {
        const [command, count] = [commands[at] & 7, commands[at] >> 3];
        at += 1;
        if (command === 7) {
            if (path.length) path.push(path[0], path[1]);
            continue;
        }
        for (let index = 0; index < count; index += 1, at += 2) {
            x += signed(commands[at]);
            y += signed(commands[at + 1]);
            if (command === 1) {
                if (path.length) paths.push(Float32Array.from(path));
                path = [];
            }
            path.push(x / extent, y / extent);
        }
    }
    if (path.length) paths.push(Float32Array.from(path));
    return paths;
}

function readLayer(bytes) {
    const layer = { name: "", extent: 4096, keys: [], values: [], features: [] };
    for (const { number, value } of new Message(bytes)) {
        if (number === 1) layer.name = text.decode(value);
        else if (number === 2) layer.features.push(value);
        else if (number === 3) layer.keys.push(text.decode(value));
        else if (number === 4) layer.values.push(propertyValue(value));
        else if (number === 5) layer.extent = value;
    }
    const features = layer.features.map((body) => {
        const feature = { type: 0, id: undefined, properties: {}, paths: [] };
        let commands = [];
        for (const { number, value } of new Message(body)) {
            if (number === 1) feature.id = value;
            else if (number === 2) {
                const tags = packed(value);
                for (let at = 0; at + 1 < tags.length; at += 2) feature.properties[layer.keys[tags[at]]] = layer.values[tags[at + 1]];
            } else if (number === 3) feature.type = value;
            else if (number === 4) commands = packed(value);
        }
        feature.paths = pathsOf(commands, layer.extent);
        return feature;
    });
    return [layer.name, features];
}

/**
 * A tile's layers by name.
 * @param {ArrayBuffer|Uint8Array} bytes
 * @returns {Map<string, TileFeature[]>}
 */
export function readVectorTile(bytes) {
    const layers = new Map();
    for (const { number, value } of new Message(new Uint8Array(bytes))) {
        if (number !== 3) continue;
        const [name, features] = readLayer(value);
        layers.set(name, [...(layers.get(name) ?? []), ...features]);
    }
    return layers;
}
