// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { MarkerQueue, Pace, socketPaths } from "../clusterd.js";

const marker = (key, longitude, value = 0, more = {}) => ({
  type: "Feature", geometry: { type: "Point", coordinates: [longitude, 0] }, properties: { value }, key, ...more,
});
const item = (add, more = {}) => ({ add, remove: [], keep: 0, revision: 1, ...more });

/** Random numbers that are the same in every run. */
function generator(seed) {
  let state = seed + 1;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

test("a slow app ends with what is shown", () => {
  for (let seed = 0; seed < 200; seed++) {
    const random = generator(seed);
    const [queue, shown, app] = [new MarkerQueue(), new Map(), new Map()];
    for (let revision = 1; revision < 12; revision++) {
      const change = { add: [], update: [], remove: [], keep: 0, revision };
      for (const key of "abcdefgh") {
        const [choice, at] = [Math.floor(random() * 3), random() * 360 - 180];
        if (shown.has(key) && choice === 0) change.remove.push({ key });
        else if (shown.has(key) && choice === 1) change.update.push(marker(key, at, revision));
        else if (shown.has(key)) change.keep++;
        else if (choice === 0) change.add.push(marker(key, at, revision));
      }
      for (const { key } of change.remove) shown.delete(key);
      for (const { key } of [...change.add, ...change.update]) shown.set(key, revision);
      queue.apply(change);
      drain(queue, app, Math.floor(random() * 4));
    }
    drain(queue, app, 10000);
    assert.deepEqual([...app].sort(), [...shown].sort());
  }
});

function drain(queue, app, most) {
  const { removed, added, updated } = queue.take(most);
  assert.ok(removed.length + added.length + updated.length <= most);
  for (const { key } of removed) assert.ok(app.delete(key));
  for (const { key } of added) assert.ok(!app.has(key));
  for (const { key } of updated) assert.ok(app.has(key));
  for (const { key, feature } of [...added, ...updated]) app.set(key, feature.properties.value);
}

test("markers come out of and go into others", () => {
  const queue = new MarkerQueue();
  queue.apply(item([marker("a", 10)]));
  queue.take(9);
  queue.apply(item([marker("b", 12, 0, { from: "a" })], { update: [marker("a", 8)] }));
  const [b] = queue.take(9).added;
  assert.deepEqual([b.from, b.start, "from" in b.feature], ["a", [10, 0], false]);
  queue.apply(item([], { remove: [{ key: "b", into: "a" }], update: [marker("a", 9)] }));
  assert.deepEqual(queue.take(9).removed, [{ key: "b", into: "a", end: [9, 0] }]);
});

test("the nearest to the centre comes first", () => {
  const queue = new MarkerQueue();
  queue.center = [179, 0];
  queue.apply(item([marker("far", 0), marker("near", -179), marker("nearest", 178.5)]));
  assert.deepEqual([1, 2, 3].map(() => queue.take(1).added[0].key), ["nearest", "near", "far"]);
});

test("items that do not fit are refused", () => {
  const bad = [
    null, {}, item([], { remove: ["x"] }), item([], { keep: 3 }), item([{ key: "a" }]), item([], { revision: "x" }),
  ];
  for (const value of bad) assert.throws(() => new MarkerQueue().apply(value), { status: "INTERNAL" });
});

test("batches follow what the app takes", () => {
  const pace = new Pace(16);
  for (let n = 0; n < 50; n++) pace.took(pace.batch, pace.batch);
  assert.equal(pace.batch, 8); // half of 16 ms at 1 ms a marker
  pace.took(3_600_000, 1);
  assert.ok(pace.batch >= 1);
});

test("sockets are tried in order", () => {
  const both = { CLUSTERD_SOCKET: "/b", XDG_RUNTIME_DIR: "/r" };
  assert.deepEqual(socketPaths("/a", both), ["/a"]);
  assert.deepEqual(socketPaths(undefined, both), ["/b"]);
  const order = ["/r/clusterd.sock", "/run/clusterd/clusterd.sock"];
  assert.deepEqual(socketPaths(undefined, { CLUSTERD_SOCKET: "", XDG_RUNTIME_DIR: "/r" }), order);
});
