// SPDX-License-Identifier: MIT
// Against a real daemon over HTTP, whose address is $CLUSTERD_HTTP; its answers have a low limit.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Client, connect } from "../clusterd.js";

const skip = process.env.CLUSTERD_HTTP ? false : "$CLUSTERD_HTTP names no daemon";
const cities = JSON.parse(readFileSync(new URL("../../../Examples/cities.geojson", import.meta.url))).features;

/** Features by id, so that their order does not matter. */
const sorted = (features) => features.map((feature) => JSON.stringify(feature)).sort();

test("all features are listed, however small an answer may be", { skip }, async () => {
  const client = await connect(process.env.CLUSTERD_HTTP);
  await client.ensureSource("listed", { radius: 100 });
  // Many on one meridian and one parallel, where boxes are divided.
  const crossing = Array.from({ length: 400 }, (_, n) => ({
    type: "Feature", id: n, geometry: { type: "Point", coordinates: n % 2 ? [0, n / 5 - 40] : [n / 5 - 40, 0] },
    properties: { name: `crossing ${n}` },
  }));
  await client.importFeatures("listed", [...cities, ...crossing]);
  const listed = [];
  for await (const feature of client.features("listed")) listed.push(feature);
  assert.deepEqual(sorted(listed), sorted([...cities, ...crossing]));

  const some = [];
  const query = { filter: ["==", ["get", "name"], "crossing 7"], properties: [], precision: 0 };
  for await (const feature of client.features("listed", query)) some.push(feature);
  assert.deepEqual(some.map(({ id, properties }) => [id, properties]), [[7, {}]]);
  assert.deepEqual(some[0].geometry.coordinates, [0, -39]);

  await client.ensureSource("nothing");
  for await (const feature of client.features("nothing")) assert.fail(`there is none: ${feature}`);
  await assert.rejects(client.features("missing").next(), { status: "NOT_FOUND" });
});

test("a token goes with each call, and into the URL of a watch", async () => {
  const seen = [];
  const fetch = async (url, { headers }) => {
    seen.push(headers.Authorization);
    return new Response("{}", { status: 200 });
  };
  class Socket {
    constructor(url) {
      seen.push(new URL(url).searchParams.get("access_token"));
    }
    addEventListener() {}
    close() {}
  }
  let number = 0;
  const client = new Client("http://localhost:1", { fetch, WebSocket: Socket, token: async () => `t${++number}` });
  await client.call("ServerService/GetServerInfo");
  await client.stream("ClusterService/WatchClusters", { source: "s", bbox: [0, 0, 1, 1], zoom: 1 });
  await new Client("http://localhost:1", { fetch, token: "fixed" }).call("ServerService/Check");
  await new Client("http://localhost:1", { fetch }).call("ServerService/Check");
  assert.deepEqual(seen, ["Bearer t1", "t2", "Bearer fixed", undefined]);
});
