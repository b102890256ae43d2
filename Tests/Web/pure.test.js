// SPDX-License-Identifier: MIT
// The map page's modules that need no browser.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { aggregateOf, count, Counts } from "../../web/colour/counts.js";
import { breaksOf, meanOf, rounded, scaleOf, sharesOf } from "../../web/colour/scale.js";
import { factsOf, namingProperty, titleProperty } from "../../web/facts.js";
import { conditionsOf, conditionText, dayAfter, exampleFilter, expressionOf, filterOf, operators, proposedFact } from "../../web/filter/conditions.js";
import { Archive, readDirectory, tileNumber } from "../../web/ground/archive.js";
import { isNamed, namesWithRoom } from "../../web/ground/labels.js";
import { degreesBase, degreesLeft, gridStep, latitudeAt, northing, partOf } from "../../web/ground/painting.js";
import { readVectorTile } from "../../web/ground/vector-tile.js";
import { inkOn, nameOf, ring } from "../../web/marker.js";
import { areaOnEarth, areaOnPlane, areaText } from "../../web/panel/area.js";
import { ranked, searchFilter } from "../../web/search.js";
import { coreAt, nearestDistances, roomOf } from "../../web/spacing.js";
import { columnsOf, comparison, csvOf, geoJSONOf } from "../../web/table/text.js";
import { kindOfText } from "../../web/values.js";

const point = (properties, id = undefined, at = [0, 0]) => ({ type: "Feature", id, geometry: { type: "Point", coordinates: at }, properties });

/** Random numbers that are the same in every run. */
function generator(seed) {
  let state = seed + 1;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

test("facts say what kind each property has", () => {
  const features = Array.from({ length: 20 }, (_, index) => point({
    name: `n${index}`, kind: index % 3 ? "cafe" : "bar", size: index, open: index > 4, since: `20${10 + index}-01-02`, tags: ["a"], mixed: index % 2 ? 1 : "x", gone: null,
  }));
  const facts = Object.fromEntries(factsOf(features, true).map((fact) => [fact.name, fact]));
  assert.deepEqual(Object.keys(facts), ["name", "kind", "size", "open", "since", "tags", "mixed"]);
  assert.deepEqual(Object.values(facts).map(({ kind }) => kind), ["text", "text", "number", "boolean", "date", "other", "other"]);
  assert.deepEqual([facts.name.isCategory, facts.kind.isCategory, facts.open.isCategory], [false, true, true]);
  assert.deepEqual([facts.size.least, facts.size.greatest, facts.since.least], [0, 19, "2010-01-02"]);
  assert.deepEqual(facts.kind.values, [["cafe", 13], ["bar", 7]]);
  assert.equal(namingProperty(factsOf(features, true)).name, "name");
});

test("conditions become expressions and come back", () => {
  const conditions = [
    { property: "kind", operator: "one of", value: ["bar", "cafe"] },
    { property: "kind", operator: "is not", value: "bar" },
    { property: "name", operator: "contains", value: "berg" },
    { property: "name", operator: "begins with", value: "new" },
    { property: "size", operator: "between", value: [1, 5] },
    { property: "size", operator: "at least", value: 0 },
    { property: "size", operator: "at most", value: 7.5 },
    { property: "since", operator: "between", value: ["2024-02-28", "2024-02-29"] },
    { property: "since", operator: "at most", value: "2023-12-31" },
    { property: "open", operator: "is true", value: undefined },
    { property: "open", operator: "is missing", value: undefined },
    { property: "open", operator: "is known", value: undefined },
  ];
  for (const condition of conditions) assert.deepEqual(conditionsOf(filterOf([condition])), [condition], condition.operator);
  assert.deepEqual(conditionsOf(filterOf(conditions)), conditions);
  assert.deepEqual(conditionsOf(undefined), []);
  for (const other of [["any", true, false], [">", ["get", "a"], 1], ["!", ["has", "x"]], "text", null, ["all"], ["==", ["get", "a"], ["get", "b"]]]) {
    const found = conditionsOf(other);
    assert.ok(found === undefined || JSON.stringify(filterOf(found)) === JSON.stringify(other), JSON.stringify(other));
  }
  assert.equal(conditionsOf(["any", true, false]), undefined);
});

test("conditions without a value say nothing", () => {
  for (const operator of ["is", "is not", "one of", "contains", "begins with", "at least", "at most", "between"]) {
    assert.equal(expressionOf({ property: "a", operator, value: undefined }), undefined, operator);
  }
  assert.equal(filterOf([{ property: "a", operator: "between", value: [undefined, ""] }]), undefined);
  assert.deepEqual(filterOf([{ property: "a", operator: "between", value: [undefined, 3] }]), ["<=", ["get", "a"], 3]);
  assert.equal(dayAfter("2023-12-31T10:00:00Z"), "2024-01-01");
  assert.equal(conditionText({ property: "size", operator: "between", value: [1000, undefined] }), "size at least 1,000");
});

test("the example is of the source", () => {
  const facts = factsOf([1, 2, 3].map((size) => point({ size, kind: "a" })), true);
  assert.deepEqual(exampleFilter(facts), [">=", ["get", "size"], 2]);
  assert.deepEqual(exampleFilter(factsOf([point({ kind: "a" }), point({ kind: "b" })], true))[0], "==");
  assert.deepEqual(exampleFilter([]), [">", ["id"], 0]);
  assert.deepEqual(operators({ kind: "other" }), ["is known", "is missing"]);
});

test("a search looks in all texts, and names that begin with it come first", () => {
  const features = [point({ name: "Old Paris", town: "x" }), point({ name: "Paris", town: "y" }), point({ name: "z", town: "Paris" })];
  const facts = factsOf(features, true);
  const filter = searchFilter(facts, "PARIS", ["==", 1, 1]);
  assert.equal(filter[0], "all");
  assert.equal(filter[2][0], "any");
  assert.deepEqual(filter[2][1], ["in", ["get", "name"], ["literal", ["Old Paris", "Paris"]]]);
  assert.ok(JSON.stringify(searchFilter(factsOf(features, false), "PARIS")).includes('"paris"'), "of a sample the daemon compares");
  assert.deepEqual(searchFilter(facts, "nowhere"), ["literal", false]);
  assert.deepEqual(searchFilter(factsOf([point({ name: "Reykjavík" })], true), "reykjavik"), ["in", ["get", "name"], ["literal", ["Reykjavík"]]]);
  assert.deepEqual(ranked(features, "paris", "name").map(({ properties }) => properties.name), ["Paris", "Old Paris", "z"]);
  assert.equal(searchFilter([], "a"), undefined);
});

test("categories have colours by frequency, and a rest", () => {
  const features = Array.from({ length: 60 }, (_, index) => point({ kind: `k${Math.floor(Math.sqrt(index) * 1.5)}` }));
  const [fact] = factsOf(features, true);
  const scale = scaleOf(fact);
  assert.equal(scale.entries.length, 10);
  assert.equal(scale.entries[0].label, fact.values[0][0]);
  assert.equal(scale.entries[scale.entryOf(fact.values[9][0])].label, "other");
  assert.equal(scale.entries[scale.entryOf(null)].label, "none");
  const shares = sharesOf(scale, [[fact.values[0][0], 3], [null, 1]]);
  assert.equal(shares[0], 0.75);
  assert.equal(shares.at(-1), 0.25);
});

test("numbers are divided into steps of about as many", () => {
  const random = generator(5);
  const numbers = Array.from({ length: 1000 }, () => random() ** 3 * 1e6).sort((a, b) => a - b);
  const breaks = breaksOf(numbers);
  assert.equal(breaks.length, 4);
  const scale = scaleOf({ name: "n", kind: "number", numbers, least: numbers[0], greatest: numbers.at(-1), values: [], isComplete: true });
  const sizes = [0, 0, 0, 0, 0];
  for (const number of numbers) sizes[scale.entryOf(number)] += 1;
  for (const size of sizes) assert.ok(size > 150 && size < 250, String(sizes));
  assert.equal(scale.entries[scale.entryOf(undefined)].label, "no number");
  assert.deepEqual(breaksOf([4, 4, 4, 4]), []);
  assert.equal(scaleOf({ name: "n", kind: "number", numbers: [4, 4], least: 4, greatest: 4, values: [] }).entries.length, 2);
  const years = Array.from({ length: 1250 }, (_, index) => 1900 + Math.floor(index / 10));
  assert.deepEqual(breaksOf(years), [1930, 1950, 1980, 2000], "two digits would divide years at 2000 only");
  const labels = scaleOf({ name: "year", kind: "number", numbers: years, least: 1900, greatest: 2024, values: [] }).entries.map(({ label }) => label);
  assert.deepEqual(labels.slice(0, 2), ["below 1930", "1930 to 1950"]);
  assert.deepEqual(breaksOf([1e6, 1e6 + 1, 1e6 + 2, 1e6 + 3, 1e6 + 4]).length, 0, "closer than the digits that are shown");
  assert.deepEqual([rounded(123456), rounded(0.0123), rounded(-987), rounded(0)], [120000, 0.012, -990, 0]);
  assert.equal(meanOf([[2, 1], [5, 2], [null, 9]]), 4);
  assert.equal(meanOf([[null, 1]]), undefined);
});

test("counts come from points, or from an aggregate of the source", () => {
  assert.deepEqual(count([point({ a: 1 }), point({ a: 1 }), point(null)], "a"), [[1, 2], [null, 1]]);
  const options = { clusterProperties: { kinds: ["histogram", ["get", "kind"]], sum: ["+", ["get", "kind"]] } };
  assert.deepEqual(aggregateOf(options, "kind"), { name: "kinds", operator: "histogram" });
  assert.equal(aggregateOf(options, "other"), undefined);
});

test("each cluster is counted once, the largest first, and a large one from a sample", async () => {
  const asked = [];
  let release;
  const gate = new Promise((resolve) => (release = resolve));
  const queries = {
    ofCluster: async (id, zoom, what, { limit, offset }) => {
      asked.push({ id, limit, offset });
      await gate;
      const size = limit || 3;
      return { features: Array.from({ length: size }, (_, index) => point({ kind: index % 2 ? "a" : "b" })) };
    },
  };
  let calls = 0;
  const counts = new Counts(queries, { property: "kind", values: ["a", "b"], options: {}, onCount: () => (calls += 1) });
  const cluster = (id, size) => ({ properties: { cluster: true, cluster_id: id, point_count: size } });
  const clusters = [cluster(1, 3), cluster(2, 10_000), ...[3, 4, 5, 6].map((id) => cluster(id, 3))];
  const ask = () => clusters.map((feature) => counts.of(feature, 2, 7));
  ask();
  counts.run();
  ask();
  counts.run();
  assert.deepEqual(asked[0], { id: 2, limit: 400, offset: 0 });
  assert.equal(asked.length, 4);
  release();
  while (ask().some((found) => !found)) {
    counts.run();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(asked.filter(({ id }) => id === 2).map(({ offset }) => offset), [0, 2400, 4800, 7200, 9600]);
  for (const id of [1, 3, 4, 5, 6]) assert.equal(asked.filter((call) => call.id === id).length, 1, `cluster ${id}`);
  assert.deepEqual(counts.of(clusters[0], 2, 7), { counts: [["b", 2], ["a", 1]], isSample: false });
  assert.equal(counts.of(clusters[1], 2, 7).isSample && counts.hasSamples, true);
  counts.close();
  clearTimeout(counts.timer);
});

test("no core covers another, and no number covers another", () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const random = generator(seed);
    const circles = Array.from({ length: 150 }, () => {
      const weight = Math.ceil(2 + random() ** 8 * 1e6);
      return { x: random() * 700, y: random() * 500, radius: 4 * (1 + Math.log(weight)), text: String(weight), weight };
    });
    const rooms = roomOf(circles, (text, radius) => Math.min(12.5, (1.75 * radius) / (Math.max(text.length, 2) * 0.6)));
    const boxes = [];
    circles.forEach((circle, index) => {
      const room = rooms[index];
      assert.ok(room.radius <= circle.radius && room.radius >= 3);
      circles.forEach((other, place) => {
        const distance = Math.hypot(other.x - circle.x, other.y - circle.y);
        if (place !== index && room.radius > 3 && rooms[place].radius > 3) assert.ok(distance >= room.radius + rooms[place].radius);
      });
      if (room.font === undefined) return;
      const half = (circle.text.length * 0.6 * room.font) / 2;
      boxes.push([circle.x - half, circle.y - room.font / 2, circle.x + half, circle.y + room.font / 2]);
    });
    for (const [index, one] of boxes.entries()) {
      for (const other of boxes.slice(index + 1)) {
        assert.ok(one[0] >= other[2] || one[2] <= other[0] || one[1] >= other[3] || one[3] <= other[1]);
      }
    }
    const greatest = circles.reduce((one, other) => (other.weight > one.weight ? other : one));
    assert.notEqual(rooms[circles.indexOf(greatest)].font, undefined);
  }
  assert.deepEqual(nearestDistances([{ x: 0, y: 0 }, { x: 3, y: 4 }, { x: 900, y: 0 }], 20), [5, 5, Infinity]);
});

test("a ring has the shares, and ink is read on its ground", () => {
  assert.equal(ring([["#000", 0.25], ["#111", 0], ["#222", 0.75]]), "conic-gradient(#000 0.00% 25.00%, #222 25.00% 100.00%)");
  assert.deepEqual([inkOn("#fde725"), inkOn("#414487")], ["#13202c", "#ffffff"]);
});

test("areas are those of the Earth and of the plane", () => {
  const square = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]];
  assert.ok(Math.abs(areaOnEarth(square) - 12_364) < 10);
  assert.equal(areaOnPlane(square), 1);
  assert.match(areaText({ geometry: { type: "Polygon", coordinates: [square] } }, false), /^12,400 km²$/);
  assert.equal(areaText({ geometry: { type: "Point" } }), "all at one position");
});

test("tables sort by kind, with what is missing last in both directions", () => {
  const features = [3, null, "b", 1, "a10", "a9", undefined].map((value) => point({ value }));
  const { read } = columnsOf(features).find(({ name }) => name === "value");
  const sorted = (isDescending) => features.toSorted(comparison(read, isDescending)).map(read);
  assert.deepEqual(sorted(false).slice(0, 5), [1, 3, "a9", "a10", "b"]);
  assert.deepEqual(sorted(true).slice(0, 5), ["b", "a10", "a9", 3, 1]);
  assert.deepEqual(sorted(true).slice(5).map((value) => value ?? null), [null, null]);
});

test("columns keep the order of the source's properties, whatever the first points lack", () => {
  const features = [point({ z: 1, b: 2 }), point({ a: 3, z: 4 })];
  const names = columnsOf(features, ["a", "b", "c"]).map(({ name }) => name);
  assert.deepEqual(names.slice(0, 3), ["a", "b", "z"]);
});

test("CSV is quoted, and no text is a formula", () => {
  const features = [point({ name: 'a "b", c', note: "=1+1", n: -1 }, 7, [1.5, 2]), point({ list: [1] })];
  const columns = columnsOf(features);
  const text = csvOf(columns, features);
  assert.equal(text, 'id,name,note,n,list,longitude,latitude\r\n7,"a ""b"", c",\'=1+1,-1,,1.5,2\r\n,,,,[1],0,0\r\n');
  assert.deepEqual(JSON.parse(geoJSONOf(features)).features, JSON.parse(JSON.stringify(features)));
});

test("only addresses of the web and of mail become links", () => {
  assert.equal(kindOfText("https://example.org/a?b"), "link");
  assert.equal(kindOfText("http://example.org/a.PNG"), "linked picture");
  assert.equal(kindOfText("data:image/png;base64,AAAA"), "picture");
  const texts = ["javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,<script>", "data:image/svg+xml;base64,AAAA", "https://a <b>", 'https://a"onclick="x', " https://a", "//example.org", "<img src=x onerror=alert(1)>"];
  for (const text of texts) assert.equal(kindOfText(text), "text", text);
});

// MARK: The ground

const file = readFileSync(new URL("../../web/ground/ground.pmtiles", import.meta.url));

/** A web server with or without ranges. */
function serve(hasRanges) {
  const requests = [];
  globalThis.fetch = async (url, { headers }) => {
    requests.push(headers.Range);
    const [first, last] = headers.Range.match(/\d+/g).map(Number);
    return hasRanges ? new Response(file.subarray(first, last + 1), { status: 206 }) : new Response(file, { status: 200 });
  };
  return requests;
}

test("tiles of the archive are read with ranges and without", async () => {
  for (const hasRanges of [true, false]) {
    const requests = serve(hasRanges);
    const archive = new Archive("ground.pmtiles");
    const layers = readVectorTile(await archive.tile(3, 4, 2));
    assert.deepEqual([...layers.keys()], ["land", "lake", "river", "border", "place"]);
    assert.ok(layers.get("place").some(({ properties }) => properties.name === "Paris" && properties.capital));
    assert.equal(await archive.tile(4, 0, 9), undefined);
    assert.equal((await archive.metadata()).attribution, "Natural Earth");
    assert.equal(requests.length, hasRanges ? 3 : 1);
  }
});

test("land is where it is, with its edges", async () => {
  serve(true);
  const land = readVectorTile(await new Archive("a").tile(0, 0, 0)).get("land");
  const isInside = (x, y) => land.some(({ paths }) => {
    let inside = false;
    for (const path of paths) {
      for (let at = 2; at < path.length; at += 2) {
        const [x1, y1, x2, y2] = [path[at - 2], path[at - 1], path[at], path[at + 1]];
        if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
      }
    }
    return inside;
  });
  for (const [longitude, latitude, isLand] of [[10, 50, true], [-100, 40, true], [135, -25, true], [-30, 30, false], [80, -30, false], [25, 0, true]]) {
    assert.equal(isInside(longitude / 360 + 0.5, northing(latitude)), isLand, `${longitude}, ${latitude}`);
  }
});

test("numbers of tiles are those of the specification", () => {
  assert.deepEqual([[0, 0, 0], [1, 0, 0], [1, 0, 1], [1, 1, 1], [1, 1, 0], [2, 0, 0]].map((tile) => tileNumber(...tile)), [0, 1, 2, 3, 4, 5]);
  assert.equal(tileNumber(12, 3423, 1763), 19078479);
  assert.throws(() => readDirectory(new Uint8Array([5, 1])), RangeError);
  assert.throws(() => readVectorTile(new Uint8Array([26, 100, 1, 255, 255])));
});

test("deeper tiles show a part of the deepest", () => {
  assert.deepEqual(partOf(3, 4, 2, 4), { zoom: 3, x: 4, y: 2, scale: 1, left: 0, top: 0 });
  assert.deepEqual(partOf(6, 35, 22, 4), { zoom: 4, x: 8, y: 5, scale: 4, left: 0.75, top: 0.5 });
  assert.ok(Math.abs(latitudeAt(northing(47.3)) - 47.3) < 1e-9);
});

test("the grid has a line every 80 to 300 pixels", () => {
  for (let zoom = 9; zoom <= 20; zoom += 1) {
    const pixels = (gridStep(zoom) / 360) * 512 * 2 ** zoom;
    assert.ok(pixels >= 80 && pixels <= 330, `${zoom}: ${pixels}`);
  }
});

test("names of towns do not run into each other, and the greater town has its name", () => {
  const towns = [{ name: "Small", rank: 6, x: 10, y: 10 }, { name: "Capital", rank: 0, x: 20, y: 12 }, { name: "Far", rank: 8, x: 300, y: 10 }];
  assert.deepEqual(namesWithRoom(towns, (text) => 6 * text.length).map(({ name }) => name), ["Capital", "Far"]);
  assert.deepEqual([isNamed(0, 1), isNamed(0, 2), isNamed(10, 5), isNamed(10, 8)], [false, true, false, true]);
});

test("every module that a page loads is there, and none is from elsewhere", () => {
  const root = new URL("../../web/", import.meta.url);
  const files = readdirSync(root, { recursive: true }).filter((name) => /\.(js|html|css)$/.test(name));
  assert.ok(files.length > 30);
  for (const name of files) {
    const text = readFileSync(new URL(name, root), "utf8");
    for (const [, target] of text.matchAll(/^(?:import|export)[^;]*? from "(.+)";$/gm)) {
      assert.ok(target.startsWith("."), `${name}: ${target}`);
      readFileSync(new URL(target, new URL(name, root)));
    }
    assert.doesNotMatch(text.replaceAll(/https?:\/\/(www\.w3\.org|github\.com)[^\s"]*/g, ""), /(?:src|href)="https?:/, name);
  }
});

test("a published page's files are all that it needs", () => {
  const root = new URL("../../web/", import.meta.url);
  const { page, folder, files, leaflet } = JSON.parse(readFileSync(new URL("published.json", root), "utf8"));
  const html = readFileSync(new URL(page, root), "utf8");
  assert.equal(html.match(/content="ARCHIVE"/g).length, 1);
  const has = (name) => files.includes(name) || leaflet.map((file) => `leaflet/${file}`).includes(name);
  for (const [, target] of html.matchAll(/(?:src|href)="([^"#]+)"/g)) assert.ok(target.startsWith(`${folder}/`) && has(target.slice(folder.length + 1)), target);
  const needed = new Set(["published.js"]);
  for (const name of needed) {
    const text = readFileSync(new URL(name, root), "utf8");
    for (const [, target] of text.matchAll(/^(?:import|export)[^;]*? from "(.+)";$/gm)) needed.add(new URL(target, new URL(name, root)).href.slice(root.href.length));
  }
  assert.deepEqual(files.filter((name) => name.endsWith(".js")).sort(), [...needed].sort());
});

test("a condition begins with a property that no other is about", () => {
  const facts = factsOf(Array.from({ length: 20 }, (_, index) => point({ name: `n${index}`, kind: index % 3 ? "cafe" : "bar", size: index })), true);
  assert.equal(proposedFact(facts).name, "kind");
  assert.equal(proposedFact(facts, ["kind"]).name, "size");
  assert.equal(proposedFact(facts, ["kind", "size"]).name, "name");
  assert.equal(proposedFact(facts, ["kind", "size", "name"]).name, "kind", "the first again, since all are used");
});

test("a position is on the circle whose number is there", () => {
  const large = { point: { x: 100, y: 100 }, coreRadius: 12 };
  const small = { point: { x: 103, y: 128 }, coreRadius: 12 };
  assert.equal(coreAt([large, small], { x: 104, y: 104 }), large);
  assert.equal(coreAt([large, small], { x: 103, y: 120 }), small);
  assert.equal(coreAt([large, small], { x: 140, y: 100 }), undefined, "beside both numbers");
  assert.equal(coreAt([{ point: { x: 1, y: 1 } }], { x: 2, y: 1 }), undefined, "a marker without a core yet");
});

test("the grid's degrees are never cut off at a tile's edge", () => {
  for (let line = 0; line <= 512; line += 1) {
    const left = degreesLeft(line, 40, 512);
    assert.ok(left >= 0 && left + 40 <= 512, `of the line at ${line}, they begin at ${left}`);
    const base = degreesBase(line);
    assert.ok(base >= 11 && Math.abs(base - line) <= 11, `of the line at ${line}, their base is at ${base}`);
  }
});

test("a point is called by the source's own name for it", () => {
  const features = Array.from({ length: 20 }, (_, index) => point({ Bezeichnung: `Haus ${index}`, art: index % 2 ? "a" : "b" }, index));
  const naming = titleProperty(factsOf(features, true));
  assert.equal(nameOf(features[3], naming), "Haus 3");
  assert.equal(nameOf(point({ Bezeichnung: "Haus", name: "Home" }), naming), "Home", "a usual name comes first");
  assert.equal(nameOf(point({ art: "a" }, 7), naming), "Point 7");
  assert.equal(titleProperty(factsOf(features.map(({ properties: { art } }) => point({ art })), true)), undefined, "of a few kinds none is a name");
});

test("a range whose ends are in the other order is the same range", () => {
  const range = (value) => expressionOf({ property: "size", operator: "between", value });
  assert.deepEqual(range([2000, 1000]), range([1000, 2000]));
  assert.deepEqual(range(["2020-03-31", "2020-03-01"]), range(["2020-03-01", "2020-03-31"]));
  assert.deepEqual(range([undefined, 5]), ["<=", ["get", "size"], 5]);
});
