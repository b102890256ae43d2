// SPDX-License-Identifier: MIT
// Against a real daemon, whose socket is $CLUSTERD_SOCKET, and against small servers.
import assert from "node:assert/strict";
import { readFileSync, mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Client, connect } from "../clusterd.js";

const skip = process.env.CLUSTERD_SOCKET ? false : "$CLUSTERD_SOCKET names no daemon";
const cities = JSON.parse(readFileSync(new URL("../../../Examples/cities.geojson", import.meta.url))).features;

test("a viewport shows what the daemon answers", { skip }, async () => {
  const client = await connect();
  await client.ensureSource("javascript", { radius: 60 });
  assert.equal((await client.importFeatures("javascript", cities)).accepted, cities.length);
  // An import that fails leaves no new source behind, and an old one as it was.
  const sourceOptions = { radius: 60 };
  for (const source of ["javascript", "javascript-new"]) {
    await assert.rejects(client.importFeatures(source, [{ type: "Feature" }], { sourceOptions }), { status: "INVALID_ARGUMENT" });
  }
  assert.equal((await client.getSource("javascript")).points, cities.length);
  await assert.rejects(client.getSource("javascript-new"), { status: "NOT_FOUND" });
  const listed = [];
  for await (const { id } of client.features("javascript")) listed.push(id);
  assert.deepEqual(listed.sort(), cities.map(({ id }) => id).sort());
  const bbox = [-30, 30, 60, 70];
  const zooms = [3, 6, 2, 5];
  const viewport = client.viewport("javascript", { bbox, zoom: zooms[0] });
  for await (const { isComplete } of viewport) {
    if (!isComplete) continue;
    const { features } = await client.clusters("javascript", { bbox, zoom: zooms[0] });
    const shown = [...viewport.markers.values()].map(({ feature }) => JSON.stringify(feature));
    assert.deepEqual(shown.sort(), features.map((feature) => JSON.stringify(feature)).sort());
    zooms.shift();
    if (zooms.length === 0) break;
    await viewport.move(bbox, zooms[0]);
  }
  await client.close();
});

test("windows, pins, tops and grids", { skip }, async () => {
  const client = await connect();
  await client.ensureSource("windows", { indexedProperties: { population: ["get", "population"] } });
  await client.importFeatures("windows", cities);
  const window = { population: [1e6, null] };
  const large = cities.map(({ properties }) => properties.population).filter((population) => population >= 1e6);
  const top = await client.top("windows", "population", { limit: 3 });
  const populations = top.features.map(({ properties }) => properties.population);
  assert.deepEqual(populations, large.sort((a, b) => b - a).slice(0, 3));
  const { counts } = await client.histogram("windows", "population", { edges: [0, 1e6, 1e12] });
  assert.deepEqual(counts, [cities.length - large.length, large.length]);
  const { cells } = await client.grid("windows", 3, { window });
  assert.equal(cells.reduce((sum, cell) => sum + cell.point_count, 0), large.length);
  const bbox = [-180, -90, 180, 90];
  const moves = [{ window, pin: [cities[0].id] }, { window: null }, { pin: null }, {}];
  const shown = {};
  const viewport = client.viewport("windows", { bbox, zoom: 2 });
  for await (const { isComplete } of viewport) {
    if (!isComplete) continue;
    const { features } = await client.clusters("windows", { bbox, zoom: 2, ...shown });
    const markers = [...viewport.markers.values()].map(({ feature }) => JSON.stringify(feature));
    assert.deepEqual(markers.sort(), features.map((feature) => JSON.stringify(feature)).sort());
    const move = moves.shift();
    if (move === undefined) break;
    for (const [name, value] of Object.entries(move)) shown[name] = value ?? undefined;
    await viewport.move(bbox, 2, move);
  }
  await client.close();
});

test("an abort cancels its call only", { skip }, async () => {
  const client = await connect();
  const controller = new AbortController();
  const call = client.check({ signal: controller.signal });
  controller.abort();
  await assert.rejects(call, { status: "CANCELLED" });
  await assert.rejects(client.check({ signal: AbortSignal.abort() }), { status: "CANCELLED" });
  assert.equal(await client.check(), true);
  await client.close();
});

test("calls that cannot be sent leave nothing behind", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "clusterd-"));
  const closed = [];
  const server = net.createServer((socket) => {
    socket.on("error", () => {}).resume();
    closed.push(new Promise((resolve) => socket.once("close", resolve)));
  });
  await new Promise((resolve) => server.listen(join(folder, "s"), resolve));
  const client = new Client(join(folder, "s"));
  const timers = [];
  t.mock.method(globalThis, "setTimeout", (fire) => timers.push(fire));
  t.mock.method(globalThis, "clearTimeout", (number) => (timers[number - 1] = () => {}));
  const unsent = { name: "TypeError" };
  await assert.rejects(client.call("ServerService/Check", { a: 1n }, { timeoutMs: 100 }), unsent);
  await assert.rejects(client.stream("SourceService/GetFeatures", { a: 1n }, { timeoutMs: 100 }), unsent);
  for (const fire of timers) fire();
  // An import whose features break off is cancelled.
  async function* broken() {
    yield cities[0];
    throw new Error("no more features");
  }
  await assert.rejects(client.importFeatures("s", broken()), { message: "no more features" });
  await client.close();
  await new Promise((resolve) => server.close(resolve));
  assert.equal(closed.length, 3);
  await Promise.all(closed);
  rmSync(folder, { recursive: true });
});

test("a daemon without transitions is asked again without them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "clusterd-"));
  const server = net.createServer((socket) => {
    let held = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      held = Buffer.concat([held, chunk]);
      if (held.length < 5 || held.length < 5 + held.readUInt32BE(1)) return;
      const { id, params } = JSON.parse(held.subarray(5));
      const point = { type: "Feature", geometry: { type: "Point", coordinates: [0, 0] }, key: "k" };
      const messages = params.transitions
        ? [{ id, error: { code: 3, message: "", details: { param: "params.transitions" } } }]
        : [{ id, item: { add: [point], remove: [], keep: 0, revision: 1 } }, { id, end: {} }];
      for (const message of messages) {
        const body = Buffer.from(JSON.stringify(message));
        const prefix = Buffer.alloc(5);
        prefix.writeUInt32BE(body.length, 1);
        socket.write(Buffer.concat([prefix, body]));
      }
    });
  });
  await new Promise((resolve) => server.listen(join(folder, "s"), resolve));
  const keys = [];
  for await (const { added } of new Client(join(folder, "s")).viewport("any")) keys.push(...added.map(({ key }) => key));
  assert.deepEqual(keys, ["k"]);
  server.close();
  rmSync(folder, { recursive: true });
});

test("over HTTP a call is a POST, an import a PUT, and errors keep their status", async () => {
  const requests = [];
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    requests.push({ method: request.method, url: request.url, headers: request.headers, body });
    const isBad = request.url.endsWith("GetClusters");
    const error = { code: "not_found", status: "NOT_FOUND", message: "there is none", details: { a: 1 } };
    response.writeHead(isBad ? 404 : 200, { "Content-Type": "application/json" });
    response.end(JSON.stringify(isBad ? error : { status: "SERVING", accepted: 2 }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = await connect(`http://127.0.0.1:${server.address().port}/`, { timeoutMs: 5000 });
  const failure = { status: "NOT_FOUND", code: 5, message: "there is none", details: { a: 1 } };
  await assert.rejects(client.clusters("a b", { zoom: 1 }), failure);
  assert.equal((await client.importFeatures("a b", [{ n: 1 }, { n: 2 }], { mode: "append" })).accepted, 2);
  const [check, clusters, put] = requests;
  assert.deepEqual([check.method, check.url, check.headers["connect-timeout-ms"]], ["POST", "/clusterd.v1.ServerService/Check", "5000"]);
  assert.deepEqual(JSON.parse(clusters.body), { bbox: [-180, -90, 180, 90], zoom: 1, source: "a b" });
  assert.deepEqual([put.method, put.url, put.body], ["PUT", "/sources/a%20b/features?mode=append", '{"n":1}\n{"n":2}\n']);
  server.close();
  server.closeAllConnections?.();
  await assert.rejects(client.check(), { status: "UNAVAILABLE" });
});

/** A browser's WebSocket, as far as the client uses it. */
class FakeWebSocket {
  static last;
  sent = [];

  constructor(url) {
    this.url = url;
    FakeWebSocket.last = this;
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  close(code) {
    queueMicrotask(() => this.onclose({ code, reason: "" }));
  }
}

test("over HTTP a watch is a WebSocket, whose close codes are statuses", async () => {
  const fetch = async (url) => {
    const known = !url.includes("transitions");
    const error = { code: "invalid_argument", status: "INVALID_ARGUMENT", message: "unknown query parameter transitions" };
    return new Response(JSON.stringify(error), { status: known ? 404 : 400 });
  };
  const client = new Client("http://localhost:8080", { fetch, WebSocket: FakeWebSocket });
  const open = async (params) => {
    const stream = await client.stream("ClusterService/WatchClusters", { source: "s", ...params });
    return [stream, FakeWebSocket.last];
  };
  const [stream, socket] = await open({ bbox: [1, 2, 3, 4], zoom: 5, filter: ["has", "a"] });
  assert.equal(socket.url, "ws://localhost:8080/sources/s/watch?bbox=1%2C2%2C3%2C4&zoom=5&filter=%5B%22has%22%2C%22a%22%5D");
  await stream.send({ bbox: [0, 0, 1, 1], zoom: 1 });
  assert.deepEqual(socket.sent, []);
  socket.onopen();
  assert.equal(socket.sent.length, 1);
  socket.onmessage({ data: '{"n":1}' });
  assert.deepEqual(await stream.next(), { done: false, value: { n: 1 } });
  socket.onclose({ code: 4005, reason: "deleted" });
  await assert.rejects(stream.next(), { status: "NOT_FOUND", message: "deleted" });
  for (const [code, status] of [[1001, "UNAVAILABLE"], [1008, "INVALID_ARGUMENT"], [1013, "RESOURCE_EXHAUSTED"], [1006, "UNAVAILABLE"]]) {
    const [failing, itsSocket] = await open({});
    itsSocket.onopen();
    itsSocket.onclose({ code, reason: "" });
    await assert.rejects(failing.next(), { status });
  }
  const restrictions = { window: { time: [null, 7] }, pin: ["7", 8] };
  const [, pinning] = await open({ bbox: [1, 2, 3, 4], zoom: 5, ...restrictions });
  assert.equal(pinning.url, "ws://localhost:8080/sources/s/watch?bbox=1%2C2%2C3%2C4&zoom=5&window=time%2C%2C7");
  pinning.onopen();
  // Ids stay numbers or strings.
  assert.deepEqual(pinning.sent, [{ bbox: [1, 2, 3, 4], zoom: 5, pin: ["7", 8] }]);
  const [cancelled] = await open({});
  FakeWebSocket.last.onopen();
  cancelled.cancel();
  await assert.rejects(cancelled.next(), { status: "CANCELLED" });
  // A browser does not say why a WebSocket was not opened.
  const viewport = client.viewport("s");
  const changes = viewport[Symbol.asyncIterator]();
  const first = changes.next();
  await new Promise((resolve) => setImmediate(resolve));
  FakeWebSocket.last.onclose({ code: 1006, reason: "" });
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(!FakeWebSocket.last.url.includes("transitions"));
  FakeWebSocket.last.onopen();
  FakeWebSocket.last.onmessage({ data: '{"add":[],"remove":[],"keep":0,"revision":7}' });
  assert.equal((await first).value.revision, 7);
  await viewport.close();
});
