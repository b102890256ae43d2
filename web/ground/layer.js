// SPDX-License-Identifier: MIT
// The world below the markers as a layer of Leaflet: drawn from vector tiles, sharp at every zoom and in both themes.
/* global L */
import { deepestNames, isNamed, namesWithRoom } from "./labels.js";
import { lightColours, northing } from "./painting.js";
import { deepestTiles } from "./sources.js";
import { paintTile } from "./tile.js";

/** The style sheet's colours of a map's ground; a page without them has light ones. */
function colours(map) {
    const style = getComputedStyle(map.getContainer());
    return Object.fromEntries(Object.entries(lightColours).map(([name, light]) => [name, style.getPropertyValue(`--${name}`).trim() || light]));
}

const ratio = () => Math.min(window.devicePixelRatio || 1, 3);

export const GroundLayer = L.GridLayer.extend({
    // On a map that counts zoom in tiles of 256 pixels, as Leaflet does by itself, zoomOffset is -1.
    options: { tileSize: 512, zoomOffset: 0, minZoom: -Infinity, minNativeZoom: 0, attribution: "Natural Earth", keepBuffer: 1, updateWhenZooming: false },

    /** @param {import("./sources.js").TileSource} tiles */
    initialize(tiles, options) {
        L.GridLayer.prototype.initialize.call(this, options);
        this.tiles = tiles;
    },

    onAdd(map) {
        this.names = L.DomUtil.create("canvas", "town-names leaflet-zoom-hide", map.createPane("town-names"));
        this.names.ariaHidden = "true";
        map.getPane("town-names").style.cssText = "z-index: 250; pointer-events: none";
        map.on("moveend zoomend resize", this.writeNames, this);
        L.GridLayer.prototype.onAdd.call(this, map);
        this.writeNames();
    },

    onRemove(map) {
        map.off("moveend zoomend resize", this.writeNames, this);
        map.getPane("town-names").remove();
        delete map._panes["town-names"];
        L.GridLayer.prototype.onRemove.call(this, map);
    },

    redraw() {
        L.GridLayer.prototype.redraw.call(this);
        if (this._map) this.writeNames();
        return this;
    },

    createTile({ x, y, z }, done) {
        const tile = document.createElement("canvas");
        // A picture of the ground says nothing to a screen reader.
        tile.ariaHidden = "true";
        const zoom = z + this.options.zoomOffset;
        const size = { size: this.options.tileSize, ratio: ratio(), colours: colours(this._map) };
        paintTile(tile, this.tiles, zoom, x, y, size).then(() => done(undefined, tile), (error) => done(error, tile));
        return tile;
    },

    /** Writes the names of the towns in view; the last call wins. */
    async writeNames() {
        const map = this._map;
        const zoom = map.getZoom() + this.options.zoomOffset;
        const size = map.getSize();
        const call = (this.call = {});
        const towns = zoom > deepestNames ? [] : await this.townsInView(zoom);
        if (call !== this.call || !this._map) return;
        const canvas = this.names;
        const margin = 100;
        canvas.width = (size.x + 2 * margin) * ratio();
        canvas.height = (size.y + 2 * margin) * ratio();
        canvas.style.cssText = `width: ${size.x + 2 * margin}px; height: ${size.y + 2 * margin}px`;
        L.DomUtil.setPosition(canvas, map.containerPointToLayerPoint([-margin, -margin]));
        const context = canvas.getContext("2d");
        context.scale(ratio(), ratio());
        context.translate(margin, margin);
        context.font = "11.5px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";
        const shades = colours(map);
        Object.assign(context, { textBaseline: "middle", lineJoin: "round", lineWidth: 3, strokeStyle: shades.halo });
        for (const town of namesWithRoom(towns, (text) => context.measureText(text).width)) {
            context.fillStyle = shades.town;
            context.beginPath();
            context.arc(town.x, town.y, town.capital ? 2.4 : 1.8, 0, 2 * Math.PI);
            context.fill();
            context.globalAlpha = 0.75;
            context.strokeText(town.name, town.x + 6, town.y);
            context.globalAlpha = 1;
            context.fillText(town.name, town.x + 6, town.y);
        }
    },

    async townsInView(zoom) {
        const map = this._map;
        const bounds = map.getBounds().pad(0.1);
        const level = Math.max(0, Math.min(deepestTiles, Math.floor(zoom)));
        const side = 2 ** level;
        const rows = [bounds.getNorth(), bounds.getSouth()].map((latitude) =>
            Math.max(0, Math.min(side - 1, Math.floor(northing(Math.max(-85, Math.min(85, latitude))) * side))));
        const columns = [bounds.getWest(), bounds.getEast()].map((longitude) => Math.floor((longitude / 360 + 0.5) * side));
        const wanted = [];
        for (let x = columns[0]; x <= Math.min(columns[1], columns[0] + 16); x += 1) {
            for (let y = rows[0]; y <= rows[1]; y += 1) wanted.push({ x, y, column: ((x % side) + side) % side });
        }
        const towns = [];
        await Promise.all(wanted.map(async ({ x, y, column }) => {
            const layers = await this.tiles(level, column, y).catch(() => new Map());
            for (const { properties, paths } of layers.get("place") ?? []) {
                if (!isNamed(properties.rank, zoom)) continue;
                const world = 512 * 2 ** zoom;
                const origin = map.getPixelBounds().min;
                towns.push({
                    name: properties.name, rank: properties.rank, capital: properties.capital,
                    x: ((x + paths[0][0]) / side) * world - origin.x, y: ((y + paths[0][1]) / side) * world - origin.y,
                });
            }
        }));
        return towns;
    },
});
