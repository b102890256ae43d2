// SPDX-License-Identifier: MIT
// A small reader of PMTiles 3 archives (https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md), which has the part
// of the pmtiles package's interface that MapLibre uses: the protocol "pmtiles://". Swap it for
// https://unpkg.com/pmtiles@4/dist/pmtiles.js without another change.

const gunzip = async (bytes) =>
    new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());

/** The tile's number: all tiles of the zooms above it, then its index on the zoom's Hilbert curve. */
function tileID(z, x, y) {
    let id = (4 ** z - 1) / 3;
    for (let side = 2 ** z / 2; side >= 1; side /= 2) {
        const right = Math.floor(x / side) % 2, lower = Math.floor(y / side) % 2;
        id += ((3 * right) ^ lower) * side * side;
        x %= side;
        y %= side;
        if (!lower) [x, y] = right ? [side - 1 - y, side - 1 - x] : [y, x];
    }
    return id;
}

/** A directory's entries in ascending order of their tiles. */
function entries(bytes) {
    let at = 0;
    const number = () => {
        for (let value = 0, factor = 1; ; factor *= 128) {
            const byte = bytes[at++];
            value += (byte & 127) * factor;
            if (byte < 128) return value;
        }
    };
    const list = Array.from({ length: number() }, () => ({}));
    let id = 0;
    for (const entry of list) entry.id = id += number();
    for (const entry of list) entry.run = number();
    for (const entry of list) entry.length = number();
    list.forEach((entry, index) => {
        const offset = number();
        entry.offset = offset ? offset - 1 : list[index - 1].offset + list[index - 1].length;
    });
    return list;
}

class Archive {
    constructor(url) {
        this.url = url;
        this.leaves = new Map();
        this.head = this.readHead();
    }

    async read(offset, length) {
        const answer = await fetch(this.url, { headers: { Range: `bytes=${offset}-${offset + length - 1}` } });
        if (answer.status !== 206) throw new Error(`${this.url}: status ${answer.status}; range requests are needed`);
        return new Uint8Array(await answer.arrayBuffer());
    }

    /** Header and root directory come with the first request. */
    async readHead() {
        const bytes = await this.read(0, 16384), view = new DataView(bytes.buffer);
        if (new TextDecoder().decode(bytes.slice(0, 7)) !== "PMTiles") throw new Error(`${this.url} is no PMTiles archive`);
        const position = (at) => Number(view.getBigUint64(at, true)), degrees = (at) => view.getInt32(at, true) / 1e7;
        const unpack = view.getUint8(97) === 2 ? gunzip : (directory) => directory;
        return {
            unpack,
            root: entries(await unpack(bytes.slice(position(8), position(8) + position(16)))),
            metadata: [position(24), position(32)],
            leaves: position(40), tiles: position(56), isCompressed: view.getUint8(98) === 2,
            minzoom: view.getUint8(100), maxzoom: view.getUint8(101),
            bounds: [102, 106, 110, 114].map(degrees),
        };
    }

    async tile(z, x, y) {
        const head = await this.head, id = tileID(z, x, y);
        let list = head.root;
        for (let depth = 0; depth < 4; depth++) {
            const entry = list.findLast((entry) => entry.id <= id);
            if (!entry || (entry.run && id >= entry.id + entry.run)) return null;
            if (entry.run) {
                const bytes = await this.read(head.tiles + entry.offset, entry.length);
                return head.isCompressed ? gunzip(bytes) : bytes;
            }
            if (!this.leaves.has(entry.offset)) {
                const leaf = this.read(head.leaves + entry.offset, entry.length).then(head.unpack).then(entries);
                this.leaves.set(entry.offset, leaf);
            }
            list = await this.leaves.get(entry.offset);
        }
        return null;
    }

    async tileJSON() {
        const { metadata, unpack, minzoom, maxzoom, bounds } = await this.head;
        const described = JSON.parse(new TextDecoder().decode(await unpack(await this.read(...metadata))));
        return { ...described, tilejson: "3.0.0", tiles: [`pmtiles://${this.url}/{z}/{x}/{y}`], minzoom, maxzoom, bounds };
    }
}

/** `maplibregl.addProtocol("pmtiles", new pmtiles.Protocol().tile)` */
class Protocol {
    archives = new Map();

    archive(url) {
        if (!this.archives.has(url)) this.archives.set(url, new Archive(url));
        return this.archives.get(url);
    }

    tile = async ({ url, type }) => {
        const path = url.slice("pmtiles://".length);
        if (type === "json") return { data: await this.archive(path).tileJSON() };
        const [, archive, z, x, y] = path.match(/^(.*)\/(\d+)\/(\d+)\/(\d+)$/);
        return { data: (await this.archive(archive).tile(+z, +x, +y)) ?? new Uint8Array() };
    };
}

globalThis.pmtiles = { Protocol };
