// SPDX-License-Identifier: MIT
// The layers on stand-ins of a map, of Leaflet and of the frames of a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { leafletLayer, mapLibreLayer } from "../clusterd.js";

/** Frames that come when the test says so. */
class Frames {
  waiting = [];
  now = 0;

  install() {
    globalThis.requestAnimationFrame = (body) => this.waiting.push(body);
    globalThis.cancelAnimationFrame = () => (this.waiting = []);
    globalThis.performance = { now: () => this.now };
    globalThis.document = { createElement: () => ({}) };
  }

  run(milliseconds) {
    this.now += milliseconds;
    for (const body of this.waiting.splice(0)) body();
  }
}

/** A client whose viewports are fed by the test. */
class FakeClient {
  changes = [];
  moves = [];
  waiter = null;

  async expansionZoom() {
    return 7;
  }

  viewport(source, query) {
    const client = this;
    this.query = query;
    return {
      move: async (bbox, zoom, restrictions) => client.moves.push({ bbox, zoom, ...(restrictions ? { restrictions } : {}) }),
      close: async () => {},
      async *[Symbol.asyncIterator]() {
        while (true) {
          while (client.changes.length > 0) yield client.changes.shift();
          await new Promise((resolve) => (client.waiter = resolve));
        }
      },
    };
  }

  async give(change) {
    this.changes.push({ removed: [], added: [], updated: [], ...change });
    this.waiter?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

class FakeMap {
  listeners = {};
  sources = {};
  layers = {};
  zoom = 3;

  isLoaded = true;

  // MapLibre's listeners of one layer have its id between name and body.
  on = (name, ...rest) => (this.listeners[rest.length > 1 ? `${name} ${rest[0]}` : name] = rest.at(-1));
  off = (name, ...rest) => delete this.listeners[rest.length > 1 ? `${name} ${rest[0]}` : name];
  easeTo = (view) => (this.eased = view);
  getBounds = () => ({ getWest: () => 350, getSouth: () => -95, getEast: () => 380, getNorth: () => 60 });
  getCenter = () => ({ lng: 365, lat: 0 });
  getZoom = () => this.zoom;
  addSource = (id, source) => (this.sources[id] = { ...source, setData: (data) => (this.sources[id].data = data) });
  getSource = (id) => this.sources[id];
  removeSource = (id) => delete this.sources[id];
  addLayer = (layer) => (this.layers[layer.id] = layer);
  getLayer = (id) => this.layers[id];
  removeLayer = (id) => delete this.layers[id];
  getStyle = () => (this.isLoaded ? { glyphs: this.glyphs } : undefined);
  flyTo = (position, zoom) => (this.flownTo = zoom);
}

const L = {
  Layer: { extend: (members) => class { constructor() { Object.assign(this, members); } } },
  divIcon: (options) => options,
  marker: ([lat, lng], options) => ({
    at: { lat, lng }, options, listeners: {}, on(name, body) { this.listeners[name] = body; },
    addTo(map) { (map.shown ??= new Set()).add(this); this.map = map; return this; },
    remove() { this.map.shown.delete(this); },
    getLatLng() { return this.at; },
    setLatLng([lat, lng]) { this.at = { lat, lng }; },
    setIcon(icon) { this.options.icon = icon; },
  }),
};

const point = (key, longitude, more = {}) => ({
  key, feature: { type: "Feature", geometry: { type: "Point", coordinates: [longitude, 10] }, properties: {} }, ...more,
});
const cluster = (key, longitude, count) => {
  const properties = { cluster: true, cluster_id: 1, point_count: count, point_count_abbreviated: count };
  return { key, feature: { ...point(key, longitude).feature, properties } };
};

test("Leaflet's markers slide out of and into others, in the turn of the globe that is shown", async () => {
  const [frames, client, map] = [new Frames(), new FakeClient(), new FakeMap()];
  frames.install();
  const layer = leafletLayer(L, client, "cities", { query: { filter: true } });
  layer.onAdd(map);
  assert.deepEqual(client.query, { filter: true, bbox: [350, -90, 380, 60], zoom: 2 });
  await client.give({ added: [cluster("a", 5, 20)] });
  assert.deepEqual(layer.markers.get("a").getLatLng(), { lng: 365, lat: 10 });
  await client.give({ added: [point("b", 9, { from: "a", start: [5, 10] })], updated: [cluster("a", 4, 19)] });
  assert.deepEqual(layer.markers.get("b").getLatLng(), { lng: 365, lat: 10 });
  assert.equal(layer.markers.get("a").options.icon.html.textContent, "19");
  frames.run(125);
  const half = layer.markers.get("b").getLatLng().lng;
  assert.ok(half > 365 && half < 369);
  frames.run(125);
  assert.equal(layer.markers.get("b").getLatLng().lng, 369);
  await client.give({ removed: [{ key: "b", into: "a", end: [4, 10] }] });
  assert.ok(layer.markers.has("b"));
  frames.run(250);
  assert.deepEqual([...layer.markers.keys()], ["a"]);
  map.zoom = 4.6;
  map.listeners.moveend();
  assert.equal(client.moves[0].zoom, 3);
  map.zoom = 0;
  map.listeners.moveend();
  assert.equal(client.moves[1].zoom, 0);
  await layer.markers.get("a").listeners.click();
  assert.equal(map.flownTo, 8, "the daemon's zoom 7 is Leaflet's 8");
  layer.onRemove(map);
  assert.deepEqual([map.shown.size, layer.markers.size, map.listeners], [0, 0, {}]);
});

test("a marker that returns while it slides out stays", async () => {
  const [frames, client, map] = [new Frames(), new FakeClient(), new FakeMap()];
  frames.install();
  const layer = leafletLayer(L, client, "cities");
  layer.onAdd(map);
  await client.give({ added: [point("a", 5), point("b", 6)] });
  await client.give({ removed: [{ key: "b", into: "a", end: [5, 10] }] });
  frames.run(100);
  await client.give({ added: [point("b", 6)] });
  frames.run(1000);
  assert.deepEqual([...layer.markers.keys()].sort(), ["a", "b"]);
  assert.equal(map.shown.size, 2);
  layer.onRemove(map);
});

test("a zoom offset of one's own is used", () => {
  const [client, map] = [new FakeClient(), new FakeMap()];
  const layer = leafletLayer(L, client, "cities", { zoomOffset: 0 });
  layer.onAdd(map);
  assert.equal(client.query.zoom, 3);
  layer.onRemove(map);
});

test("counts are texts if MapLibre's style has glyphs, else pictures", () => {
  for (const [glyphs, member] of [["https://example.org/{fontstack}/{range}.pbf", "text-field"], [undefined, "icon-image"]]) {
    const map = Object.assign(new FakeMap(), { glyphs });
    const layer = mapLibreLayer(new FakeClient(), "cities").addTo(map);
    assert.ok(member in map.layers["clusterd-cities-counts"].layout);
    layer.remove();
  }
});

test("MapLibre's source has what is shown in every frame", async () => {
  const [frames, client, map] = [new Frames(), new FakeClient(), new FakeMap()];
  frames.install();
  const layer = mapLibreLayer(client, "cities", { circles: { minzoom: 2 } }).addTo(map);
  assert.deepEqual(Object.keys(map.layers), ["clusterd-cities-circles", "clusterd-cities-counts"]);
  assert.equal(map.layers["clusterd-cities-circles"].minzoom, 2);
  await client.give({ added: [cluster("a", 5, 20)] });
  await client.give({ added: [point("b", 9, { from: "a", start: [5, 10] })] });
  const shown = () => map.sources["clusterd-cities"].data.features.map((f) => [f.properties.key, f.geometry.coordinates[0]]);
  assert.deepEqual(shown(), [["a", 365], ["b", 365]]);
  frames.run(250);
  assert.deepEqual(shown(), [["a", 365], ["b", 369]]);
  await client.give({ removed: [{ key: "b", into: "a", end: [5, 10] }] });
  frames.run(250);
  assert.deepEqual(shown(), [["a", 365]]);
  layer.remove();
  assert.deepEqual([map.sources, map.layers, map.listeners], [{}, {}, {}]);
});

test("MapLibre's layer waits for the style", () => {
  const map = Object.assign(new FakeMap(), { isLoaded: false });
  const layer = mapLibreLayer(new FakeClient(), "cities").addTo(map);
  assert.deepEqual(map.layers, {});
  map.listeners.styledata();
  assert.deepEqual(map.layers, {}, "the style is still loading");
  map.isLoaded = true;
  map.listeners.styledata();
  assert.deepEqual(Object.keys(map.layers), ["clusterd-cities-circles", "clusterd-cities-counts"]);
  layer.remove();
  const other = Object.assign(new FakeMap(), { isLoaded: false });
  mapLibreLayer(new FakeClient(), "cities").addTo(other).remove();
  assert.deepEqual([other.listeners, other.layers], [{}, {}]);
});

test("a click on MapLibre's cluster zooms to where it separates, or is the app's", async () => {
  const [frames, client, map] = [new Frames(), new FakeClient(), new FakeMap()];
  frames.install();
  const layer = mapLibreLayer(client, "cities").addTo(map);
  await client.give({ added: [cluster("a", 5, 20), point("b", 9)] });
  const click = (key) => map.listeners["click clusterd-cities-circles"]({ features: [{ properties: { key } }] });
  await click("b");
  assert.equal(map.eased, undefined);
  await click("a");
  assert.deepEqual(map.eased, { center: [5, 10], zoom: 7 });
  layer.remove();
  const clicked = [];
  const own = mapLibreLayer(client, "cities", { onClick: (feature) => clicked.push(feature.properties) }).addTo(map);
  await client.give({ added: [cluster("c", 5, 20)] });
  await click("c");
  assert.deepEqual(clicked, [{ cluster: true, cluster_id: 1, point_count: 20, point_count_abbreviated: 20 }]);
  own.remove();
});

test("a layer's window and pins are moved, and kept when it is added again", async () => {
  new Frames().install();
  for (const make of [(client, query) => leafletLayer(L, client, "cities", { query }), (client, query) => mapLibreLayer(client, "cities", { query })]) {
    const [client, map] = [new FakeClient(), new FakeMap()];
    const query = { filter: true, pin: [7] };
    const layer = make(client, query);
    const add = () => (layer.onAdd ? layer.onAdd(map) : layer.addTo(map));
    add();
    layer.restrict({ window: { time: [1, null] }, pin: null });
    assert.deepEqual(client.moves.at(-1).restrictions, { window: { time: [1, null] }, pin: null });
    assert.deepEqual(query, { filter: true, pin: [7] }, "the caller's query is its own");
    layer.onRemove ? layer.onRemove() : layer.remove();
    add();
    const { bbox, zoom, ...kept } = client.query;
    assert.deepEqual(kept, { filter: true, window: { time: [1, null] } });
    layer.onRemove ? layer.onRemove() : layer.remove();
  }
});
