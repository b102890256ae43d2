// SPDX-License-Identifier: MIT
// The map page's modules of windows, the slider, densities and the watch that carries them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Counts } from "../../web/colour/counts.js";
import { labelsOf, resolutionOf, shadesOf, stepOf, stepsOf } from "../../web/density/steps.js";
import { indexedOf, isTime, memberOf, optionsOf, rangeText, readWindow, windowItem, windowText } from "../../web/indexed.js";
import { Paced } from "../../web/paced.js";
import { Axis, bars, outlineOf, played } from "../../web/slider/axis.js";
import { Watch } from "../../web/watch.js";

const [day, year] = [86_400_000, 365.25 * 86_400_000];
const even = (least, greatest) => ({ edges: [least, greatest], counts: Array.from({ length: 64 }, () => 1) });
const skewed = (least, greatest) => ({ edges: [least, greatest], counts: [1000, ...Array.from({ length: 63 }, () => 1)] });

test("an indexed property's expression says whether it is a time, and which member it reads", () => {
  const options = { indexedProperties: { time: ["to-timestamp", ["get", "date"]], people: ["get", "population"], dense: ["/", ["get", "a"], ["get", "b"]] } };
  assert.deepEqual(indexedOf(options), [
    { name: "time", isTime: true, member: "date" }, { name: "people", isTime: false, member: "population" }, { name: "dense", isTime: false, member: undefined },
  ]);
  assert.deepEqual(indexedOf({}), []);
  assert.deepEqual(indexedOf(undefined), []);
  assert.ok(isTime(["coalesce", ["to-timestamp", ["get", "a"]], 0]));
  assert.ok(!isTime(["-", ["to-timestamp", ["get", "a"]], ["to-timestamp", ["get", "b"]]]), "a duration is no time");
  assert.equal(memberOf(["*", 2, ["get", "a"]]), "a");
  assert.equal(memberOf(5), undefined);
});

test("a window is the same in an address, a query and an item", () => {
  for (const window of [{ property: "time", from: 5, to: 7.5 }, { property: "a.b", from: -1e21, to: undefined }, { property: "t", from: undefined, to: 0 }]) {
    assert.deepEqual(readWindow(rangeText(window)), window);
    assert.equal(windowText(window), rangeText(window));
    assert.deepEqual(windowItem(window), { [window.property]: [window.from ?? null, window.to ?? null] });
  }
  const open = { property: "time", from: undefined, to: undefined };
  assert.deepEqual(readWindow(rangeText(open)), open, "a slider that is open, with all values");
  assert.equal(windowText(open), undefined, "points without a value are shown too");
  assert.equal(windowItem(open), null);
  assert.equal(windowItem(undefined), null);
  for (const text of ["", "time", "time,1", "time,1,2,3", ",1,2", "time,a,2"]) assert.equal(readWindow(text), undefined, text);
});

test("a view's options are its own in the place of the source's", () => {
  const options = { radius: 40, clusterProperties: { sum: ["+", ["get", "a"]] }, views: { wide: { radius: 80, clusterProperties: null } } };
  assert.equal(optionsOf(options, "").radius, 40);
  assert.equal(optionsOf(options, "wide").radius, 80);
  assert.ok(!("clusterProperties" in optionsOf(options, "wide")));
  assert.deepEqual(optionsOf(undefined, ""), {});
});

test("positions of the slider have values of few digits, and lead back to where they were", () => {
  for (const [histogram, time] of [[even(0, 1), false], [even(-273.15, 5000), false], [even(Date.UTC(2019, 3, 9, 7), Date.UTC(2025, 0, 1)), true], [skewed(600, 37_274_000), false], [even(Date.UTC(2024, 0, 1), Date.UTC(2024, 0, 1, 3)), true], [even(2.5, 3.5), false]]) {
    const axis = new Axis(histogram, time);
    assert.equal(axis.valueAt(0), undefined);
    assert.equal(axis.valueAt(1), undefined);
    assert.equal(axis.positionOf(undefined, 1), 1);
    let last = -Infinity;
    for (let step = 1; step < 200; step += 1) {
      const value = axis.valueAt(step / 200);
      if (value === undefined) continue;
      assert.ok(value >= last, `${value} after ${last}`);
      last = value;
      assert.ok(Math.abs(axis.positionOf(value) - step / 200) < 0.004, `${value} is at ${axis.positionOf(value)}, not ${step / 200}`);
      assert.equal(axis.valueAt(axis.positionOf(value)), value, "an address that is written and read again");
    }
    assert.ok(Number.isFinite(last), "no position has a value");
    const { edges } = axis;
    assert.equal(edges.length, bars + 1);
    assert.deepEqual([edges[0], edges.at(-1)], [axis.least, axis.greatest]);
    assert.ok(edges.every((edge, index) => index === 0 || edge > edges[index - 1]), "edges ascend");
  }
});

test("values far apart are on a logarithmic axis, times never", () => {
  assert.ok(new Axis(skewed(600, 37_274_000), false).isLogarithmic);
  assert.ok(!new Axis(skewed(600, 37_274_000), true).isLogarithmic);
  assert.ok(!new Axis(even(600, 37_274_000), false).isLogarithmic);
  assert.ok(!new Axis(skewed(0, 37_274_000), false).isLogarithmic, "nothing is left of zero");
  assert.equal(new Axis(skewed(100, 1_000_000), false).valueAt(0.5), 10_000);
});

test("a time has as much of a date as its axis needs, in UTC", () => {
  const years = new Axis(even(Date.UTC(2019, 0, 1), Date.UTC(2025, 0, 1)), true);
  assert.equal(years.text(Date.UTC(2021, 2, 3)), "3 Mar 2021");
  assert.equal(years.valueAt(0.5) % day, 0, "a whole day");
  const hours = new Axis(even(Date.UTC(2024, 0, 1), Date.UTC(2024, 0, 2)), true);
  assert.equal(hours.text(Date.UTC(2024, 0, 1, 13, 5)), "1 Jan 2024 13:05");
  assert.equal(new Axis(even(0, 100), false).text(12.4), "12.4");
  assert.equal(new Axis(even(1900, 2020), false).text(1984), "1984");
  assert.equal(new Axis(skewed(600, 37_274_000), false).text(1_540_000), "1.54M");
});

test("an arrow key moves an end within the axis, with Shift ten times as far", () => {
  const axis = new Axis(even(0, 6 * year), true);
  assert.equal(axis.moved(0.5, 1), 0.51);
  assert.equal(axis.moved(0.5, -10), 0.4);
  assert.equal(axis.moved(0.999, 10), 1);
  assert.equal(axis.moved(0.3, -Infinity), 0);
  for (let position = 0.01; position < 0.98; position = axis.moved(position, 1)) {
    assert.notEqual(axis.valueAt(axis.moved(position, 1)), axis.valueAt(position), `nothing changes at ${position}`);
  }
});

test("playing moves a range to the end and begins again, as wide as it was", () => {
  let range = [0, 1];
  range = played(range, 0.01);
  assert.deepEqual(range, [0, 0.1], "a part of all");
  let rounds = 0;
  for (let frame = 0; frame < 1000; frame += 1) {
    const next = played(range, 0.013);
    assert.ok(Math.abs(next[1] - next[0] - 0.1) < 1e-9 && next[0] >= -1e-12 && next[1] <= 1, `${next}`);
    if (next[0] < range[0]) {
      assert.equal(range[1], 1, "the end is reached before it begins again");
      rounds += 1;
    }
    range = next;
  }
  assert.ok(rounds > 10, `${rounds} rounds`);
});

test("every bar with something is seen, and no other", () => {
  const path = outlineOf([0, 1, 1000, 0]);
  assert.equal(path.match(/M/g).length, 2);
  assert.ok(path.startsWith("M16.000 1v-0.03"), path);
  assert.ok(path.includes("M32.000 1v-1.0000h"), path);
  assert.equal(outlineOf([0, 0]), "");
});

test("every count has a step of density, and the legend leaves none out", () => {
  for (const most of [1, 2, 3, 5, 9, 10, 25, 99, 100, 1234, 50_000, 12_345_678]) {
    const steps = stepsOf(most);
    assert.equal(steps[0], 1);
    assert.ok(steps.every((least, index) => Number.isInteger(least) && least <= most && (index === 0 || least > steps[index - 1])), `${steps} of ${most}`);
    assert.equal(shadesOf(steps, false).length, steps.length);
    assert.equal(new Set(shadesOf(steps, true)).size, steps.length);
    for (const count of [1, Math.ceil(most / 2), most]) assert.ok(stepOf(steps, count) >= 0 && steps[stepOf(steps, count)] <= count);
    const labels = labelsOf(steps, most);
    assert.ok(labels[0].startsWith("1"));
    assert.ok(labels.at(-1).endsWith(most.toLocaleString("en")), `${labels.at(-1)} of ${most}`);
  }
  assert.deepEqual([-1, 0, 3.7, 22].map(resolutionOf), [4, 5, 8, 26]);
});

test("reads follow each other, and changes meanwhile are read once", async () => {
  const ends = [];
  let running = 0;
  const paced = new Paced(async () => {
    running += 1;
    assert.equal(running, 1, "two reads at once");
    await new Promise((resolve) => ends.push(resolve));
    running -= 1;
  });
  const asked = [paced.ask(), paced.ask(), paced.ask()];
  assert.equal(ends.length, 1);
  ends[0]();
  await new Promise(setImmediate);
  assert.equal(ends.length, 2, "the second and the third in one");
  ends[1]();
  await Promise.all(asked);
  assert.equal(ends.length, 2);
});

/** A watch over a socket that the test plays the daemon of. */
function watched(queries, pin = null) {
  const sent = [];
  globalThis.WebSocket = class {
    static OPEN = 1;
    readyState = 1;
    send(text) { sent.push(JSON.parse(text)); }
    close() {}
  };
  const seen = [];
  const watch = new Watch({ watchAddress: () => "ws://here/watch?zoom=1", open: (address) => new WebSocket(address), ...queries }, { bbox: [0, 0, 1, 1], zoom: 1 }, pin, {
    onReset: () => {}, onState: () => {}, onChange: (item) => seen.push(item),
  });
  const answer = () => watch.socket.onmessage({ data: JSON.stringify({ add: [], update: [], remove: [], keep: 0, revision: 1 }) });
  return { watch, sent, seen, answer };
}

test("a window goes out when the last one was answered, and only the newest", () => {
  const { watch, sent, answer } = watched({ window: undefined });
  const move = (from) => {
    watch.queries.window = { property: "time", from, to: 9 };
    watch.restrict();
  };
  move(1);
  assert.deepEqual(sent, [], "the first answer is still to come");
  answer();
  assert.deepEqual(sent, [{ bbox: [0, 0, 1, 1], zoom: 1, window: { time: [1, 9] } }]);
  move(2);
  move(3);
  assert.equal(sent.length, 1);
  answer();
  assert.deepEqual(sent[1].window, { time: [3, 9] });
  answer();
  assert.equal(sent.length, 2, "nothing is left to say");
  watch.move({ bbox: [0, 0, 2, 2], zoom: 1 });
  assert.deepEqual(sent[2], { bbox: [0, 0, 2, 2], zoom: 1 }, "what stays as it is need not be said");
  answer();
  watch.queries.window = { property: "time", from: undefined, to: undefined };
  watch.restrict(7);
  assert.deepEqual(sent[3], { bbox: [0, 0, 2, 2], zoom: 1, window: null, pin: [7] });
  answer();
  watch.restrict(null);
  assert.deepEqual(sent[4], { bbox: [0, 0, 2, 2], zoom: 1, pin: null });
});

test("a pinned feature that no query can name is named once the watch is open", () => {
  const { sent, answer } = watched({ window: undefined }, "12");
  answer();
  assert.deepEqual(sent, [{ bbox: [0, 0, 1, 1], zoom: 1, pin: ["12"] }]);
});

test("a source's partitions are a circle's colours, in a window too", () => {
  const queries = { window: undefined };
  const counts = new Counts(queries, { property: "kind", values: ["a"], options: { partitionBy: ["get", "kind"] }, onCount: () => {} });
  const circle = { properties: { cluster: true, cluster_id: 5, point_count: 3, partition: "a" } };
  assert.deepEqual(counts.of(circle, 0, 1), { counts: [["a", 3]], isSample: false });
  const other = new Counts(queries, { property: "kind", values: ["a"], options: {}, onCount: () => {} });
  assert.equal(other.of(circle, 0, 1), undefined, "to be counted");
  other.found.set("1//5", { counts: [["a", 3]], isSample: false });
  assert.ok(other.of(circle, 0, 1));
  queries.window = { property: "time", from: 1, to: 2 };
  assert.equal(other.of(circle, 0, 1), undefined, "the counts of all points are not those of a window");
});
