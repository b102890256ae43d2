// SPDX-License-Identifier: MIT
// Reads PMTiles 3 archives over HTTP: https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md
// By range requests, or, from a web server that has none, by reading the whole file once.

const gunzip = async (bytes) =>
    new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());

/** The tile's number: all tiles of the zooms above it, then its index on the zoom's Hilbert curve. */
export function tileNumber(zoom, x, y) {
    let number = (4 ** zoom - 1) / 3;
    for (let side = 2 ** zoom / 2; side >= 1; side /= 2) {
        const right = Math.floor(x / side) % 2;
        const lower = Math.floor(y / side) % 2;
        number += ((3 * right) ^ lower) * side * side;
        x %= side;
        y %= side;
        if (!lower) [x, y] = right ? [side - 1 - y, side - 1 - x] : [y, x];
    }
    return number;
}

/** A directory's entries in ascending order of their tiles. */
export function readDirectory(bytes) {
    let at = 0;
    const number = () => {
        for (let value = 0, factor = 1; ; factor *= 128) {
            const byte = bytes[at++];
            if (byte === undefined) throw new RangeError("the archive's directory ends too early");
            value += (byte & 127) * factor;
            if (byte < 128) return value;
        }
    };
    const entries = Array.from({ length: number() }, () => ({}));
    let tile = 0;
    for (const entry of entries) entry.tile = tile += number();
    for (const entry of entries) entry.run = number();
    for (const entry of entries) entry.length = number();
    entries.forEach((entry, index) => {
        const offset = number();
        entry.offset = offset ? offset - 1 : entries[index - 1].offset + entries[index - 1].length;
    });
    return entries;
}

/** Sections of up to 16 KiB at the start: header and root directory. */
const headBytes = 16384;

export class Archive {
    /** @param {string} url */
    constructor(url) {
        this.url = url;
        this.whole = undefined;
        this.leaves = new Map();
        this.header = this.readHeader();
        this.header.catch(() => {});
    }

    async read(offset, length) {
        if (this.whole) return (await this.whole).subarray(offset, offset + length);
        const answer = await fetch(this.url, { headers: { Range: `bytes=${offset}-${offset + length - 1}` } });
        if (answer.status === 206) return new Uint8Array(await answer.arrayBuffer());
        if (!answer.ok) throw new Error(`${this.url}: ${answer.status} ${answer.statusText}`);
        this.whole = answer.arrayBuffer().then((body) => new Uint8Array(body));
        return (await this.whole).subarray(offset, offset + length);
    }

    async readHeader() {
        const bytes = await this.read(0, headBytes);
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        if (new TextDecoder().decode(bytes.subarray(0, 7)) !== "PMTiles") throw new Error(`${this.url} is no PMTiles archive`);
        const position = (at) => Number(view.getBigUint64(at, true));
        const unpack = view.getUint8(97) === 2 ? gunzip : (directory) => directory;
        return {
            unpack,
            root: readDirectory(await unpack(bytes.slice(position(8), position(8) + position(16)))),
            metadata: [position(24), position(32)], leaves: position(40), tiles: position(56),
            isCompressed: view.getUint8(98) === 2, minzoom: view.getUint8(100), maxzoom: view.getUint8(101),
            bounds: [102, 106, 110, 114].map((at) => view.getInt32(at, true) / 1e7),
        };
    }

    /** The archive's description: a JSON object. */
    async metadata() {
        const { metadata, unpack } = await this.header;
        return JSON.parse(new TextDecoder().decode(await unpack(await this.read(...metadata))));
    }

    /**
     * A tile's bytes; undefined if it is empty.
     * @returns {Promise<Uint8Array|undefined>}
     */
    async tile(zoom, x, y) {
        const header = await this.header;
        const number = tileNumber(zoom, x, y);
        let entries = header.root;
        for (let depth = 0; depth < 4; depth += 1) {
            const entry = entries.findLast(({ tile }) => tile <= number);
            if (!entry || (entry.run && number >= entry.tile + entry.run)) return undefined;
            if (entry.run) {
                const bytes = await this.read(header.tiles + entry.offset, entry.length);
                return header.isCompressed ? gunzip(bytes) : bytes;
            }
            if (!this.leaves.has(entry.offset)) {
                const leaf = this.read(header.leaves + entry.offset, entry.length).then(header.unpack).then(readDirectory);
                this.leaves.set(entry.offset, leaf);
            }
            entries = await this.leaves.get(entry.offset);
        }
        return undefined;
    }
}
