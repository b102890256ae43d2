// SPDX-License-Identifier: MIT

/** [west, south, east, north] in degrees. */
export type BBox = readonly [number, number, number, number] | readonly number[];
/** A longitude and a latitude. */
export type Position = [number, number];
export type FeatureId = number | string;
/** An expression of MapLibre's language. */
export type Expression = unknown;

export interface Geometry {
  type: string;
  coordinates: any;
}

/** A cluster or a point. Clusters have `cluster`, `cluster_id`, `point_count` and `point_count_abbreviated`. */
export interface Feature {
  type: "Feature";
  id?: FeatureId;
  geometry: Geometry;
  properties: Record<string, any> | null;
}

export interface FeatureCollection {
  type: "FeatureCollection";
  features: Feature[];
  /** The number of the data that produced the answer. */
  revision: number;
  /** Where the data are in the log of the table that the source follows. */
  position?: string;
  truncated?: boolean;
  total?: number;
  /** Advice about a box or a filter that is probably not what was meant. */
  warnings?: string[];
}

export interface Description {
  source: string;
  options: Record<string, unknown>;
  points: number;
  revision: number;
  position?: string;
  bbox: number[] | null;
  memoryBytes: number;
  buildMs: number;
  state: "empty" | "building" | "loading" | "ready" | "stale" | "damaged" | "unavailable";
  createdAt: string;
  updatedAt: string;
  [more: string]: unknown;
}

export interface ImportAnswer extends Description {
  accepted: number;
  skipped: number;
  skippedReasons: Record<string, number>;
}

export interface CallOptions {
  /** How long the answer is waited for; the daemon stops its work then. */
  timeoutMs?: number;
  /** Cancels the call. */
  signal?: AbortSignal;
}

export interface ClusterQuery {
  bbox?: BBox;
  zoom?: number;
  limit?: number;
  properties?: string[];
  precision?: number;
  filter?: Expression;
  include?: string[];
  revision?: number;
  /** A position in the log of the source's table: the call waits for it. */
  atLeast?: string;
}

export interface IdQuery {
  filter?: Expression;
  revision?: number;
  /** A position in the log of the source's table: the call waits for it. */
  atLeast?: string;
  properties?: string[];
  include?: string[];
}

/** How a cluster was found. */
export interface ClusterIdQuery {
  filter?: Expression;
  /** Only needed if the filter depends on the zoom. */
  zoom?: number;
  revision?: number;
  /** A position in the log of the source's table: the call waits for it. */
  atLeast?: string;
}

export type Status =
  | "OK" | "CANCELLED" | "UNKNOWN" | "INVALID_ARGUMENT" | "DEADLINE_EXCEEDED" | "NOT_FOUND" | "ALREADY_EXISTS"
  | "PERMISSION_DENIED" | "RESOURCE_EXHAUSTED" | "FAILED_PRECONDITION" | "ABORTED" | "OUT_OF_RANGE"
  | "UNIMPLEMENTED" | "INTERNAL" | "UNAVAILABLE" | "DATA_LOSS" | "UNAUTHENTICATED";

/** A call has failed: `message` says what was wrong and what to do. */
export class ClusterdError extends Error {
  constructor(status: Status, message: string, details?: any);
  readonly status: Status;
  /** The number of the status, 0 to 16. */
  readonly code: number;
  readonly details: any;
}

/** A call with streams, and the asynchronous iterable of its items. */
export class Stream<Item = any> implements AsyncIterableIterator<Item> {
  /** The last message, once the items have ended. */
  result: any;
  /** How many items wait. */
  readonly waiting: number;
  /** Sends an item; resolves once there is room for more. */
  send(item: object): Promise<void>;
  /** Says that no more items follow. */
  end(): void;
  /** Asks the daemon to stop; the iteration then fails with CANCELLED. */
  cancel(): void;
  /** Ends the stream on this side; the iteration ends too. */
  close(): void;
  next(): Promise<IteratorResult<Item, any>>;
  return(): Promise<IteratorResult<Item, any>>;
  [Symbol.asyncIterator](): this;
}

/** A cluster or a point with its identity. */
export interface Marker {
  /** Stays the same for as long as the marker does. */
  key: string;
  feature: Feature;
  /** The key of the marker that it comes out of, and where that was. */
  from?: string;
  start?: Position;
}

export interface Removed {
  key: string;
  /** The key of the marker that absorbs it, and where that is. */
  into?: string;
  end?: Position;
}

/** What the app does next. */
export interface Change {
  removed: Removed[];
  added: Marker[];
  /** Markers that the app has, which now show something else. */
  updated: Marker[];
  /** Whether the app has everything now. */
  isComplete: boolean;
  /** The number of the newest data. */
  revision: number;
}

export interface ViewportOptions {
  /** The most changes a second that the daemon sends. */
  maxRateHz?: number;
  /** Whether markers keep their keys over zooms; true by default. */
  transitions?: boolean;
  /** The time from one change to the next while some wait; 16 by default. */
  frameMs?: number;
}

/** A part of a map that is watched: iterate over it for what changes there. */
export class Viewport implements AsyncIterable<Change> {
  constructor(client: Client, source: string, query: ClusterQuery, options?: ViewportOptions);
  /** What the app has been given, by key. */
  readonly markers: Map<string, Marker>;
  /** Moves the viewport; what is shown there comes as changes. */
  move(bbox: BBox, zoom: number): Promise<void>;
  /** Ends the watching; the iteration ends after what waits. */
  end(): Promise<void>;
  /** Ends the watching at once. */
  close(): Promise<void>;
  [Symbol.asyncIterator](): AsyncIterator<Change>;
}

export interface ClientOptions {
  /** For calls that name none. */
  timeoutMs?: number;
  /** To use others than the environment's. */
  fetch?: typeof globalThis.fetch;
  WebSocket?: any;
}

/**
 * A client of the daemon at an address: a socket's path, or "http://host:port". Without one, in Node the first of
 * $CLUSTERD_SOCKET, $XDG_RUNTIME_DIR/clusterd.sock and /run/clusterd/clusterd.sock that answers; in a browser the
 * page's own origin. The daemon must answer.
 */
export function connect(address?: string, options?: ClientOptions): Promise<Client>;

/** A client of the daemon; it connects with its first call. Calls throw `ClusterdError`. */
export class Client {
  constructor(address?: string, options?: ClientOptions);
  /** Calls a unary method, such as "ClusterService/GetClusters". */
  call<Answer = any>(method: string, params?: object, options?: CallOptions): Promise<Answer>;
  /** Opens a call with streams. Only a `timeoutMs` given here ends it. */
  stream<Item = any>(method: string, params?: object, options?: CallOptions): Promise<Stream<Item>>;
  /** Calls a method that takes a stream of items. Stops early if the daemon refuses. */
  sendAll<Answer = any>(
    method: string, params: object, items: Iterable<object> | AsyncIterable<object>, options?: CallOptions,
  ): Promise<Answer>;
  /** Closes the connection; calls under way fail with UNAVAILABLE. */
  close(): Promise<void>;

  clusters(source: string, query?: ClusterQuery, options?: CallOptions): Promise<FeatureCollection>;
  tile(source: string, z: number, x: number, y: number, query?: IdQuery & { encoding?: "json" | "mvt" }, options?: CallOptions): Promise<any>;
  children(source: string, clusterId: number, query?: ClusterIdQuery, options?: CallOptions): Promise<FeatureCollection>;
  leaves(source: string, clusterId: number, query?: ClusterIdQuery & { limit?: number; offset?: number }, options?: CallOptions): Promise<FeatureCollection>;
  expansionZoom(source: string, clusterId: number, query?: ClusterIdQuery, options?: CallOptions): Promise<number>;
  hull(source: string, clusterId: number, query?: ClusterIdQuery, options?: CallOptions): Promise<Feature & { revision: number }>;
  locate(source: string, featureId: FeatureId, zoom: number, query?: IdQuery, options?: CallOptions): Promise<{ feature: Feature; standsAloneFrom: number | null; revision: number }>;
  viewport(source: string, query?: ClusterQuery, options?: ViewportOptions): Viewport;

  createSource(source: string, sourceOptions?: object, options?: CallOptions): Promise<Description>;
  /** Makes a source, or gives the one that exists these options. Returns whether it is new. */
  ensureSource(source: string, sourceOptions?: object): Promise<boolean>;
  /**
   * Imports GeoJSON features: all or nothing. With `sourceOptions` the source is made as by `ensureSource`, and a new one is deleted
   * again if the import fails.
   */
  importFeatures(
    source: string, features: Iterable<object> | AsyncIterable<object>,
    how?: { mode?: "replace" | "append"; onInvalid?: "reject" | "skip"; sourceOptions?: object }, options?: CallOptions,
  ): Promise<ImportAnswer>;
  /** All features of a source as they were sent, of one revision; over the socket in the source's order, over HTTP in none. */
  features(
    source: string, query?: { filter?: Expression; properties?: string[]; precision?: number; revision?: number; atLeast?: string },
    options?: CallOptions,
  ): AsyncGenerator<Feature>;
  loadFile(source: string, path: string, how?: object, options?: CallOptions): Promise<ImportAnswer>;
  updateFeatures(
    source: string, changes: { upsert?: object[]; remove?: FeatureId[] }, options?: CallOptions,
  ): Promise<Description & { inserted: number; updated: number; removed: number }>;
  updateOptions(source: string, sourceOptions: object, options?: CallOptions): Promise<Description>;
  deleteSource(source: string, options?: CallOptions): Promise<object>;
  getSource(source: string, options?: CallOptions): Promise<Description>;
  listSources(options?: CallOptions): Promise<Description[]>;
  evaluate(expression: Expression, context?: object, options?: CallOptions): Promise<any>;
  check(options?: CallOptions): Promise<boolean>;
}

/** The whole world. */
export const WORLD: BBox;

/** The sockets that are tried, in order. */
export function socketPaths(path?: string, environment?: Record<string, string | undefined>): string[];

export interface LayerOptions extends ViewportOptions {
  query?: Omit<ClusterQuery, "bbox" | "zoom">;
  /** How long a slide takes; 250 by default. */
  milliseconds?: number;
  onError?: (error: unknown) => void;
}

export interface LeafletOptions extends LayerOptions {
  /** Leaflet's icon of a feature. */
  icon?: (feature: Feature, L: any) => any;
  /**
   * What is added to the map's zoom to get the daemon's; -1 by default, because Leaflet counts tiles of 256 pixels and the
   * daemon tiles of 512.
   */
  zoomOffset?: number;
  /** Instead of zooming to where a cluster separates, unless it returns true. */
  onClick?: (feature: Feature, marker: any) => boolean | void;
}

/** A layer for Leaflet, whose module or global is `L`. Its `markers` has Leaflet's markers by key. */
export function leafletLayer(L: any, client: Client, source: string, options?: LeafletOptions): any;

export interface MapLibreOptions extends LayerOptions {
  /** The id of the source that is added, and the start of the layers' ids. */
  id?: string;
  /** Members that replace those of the layer of circles. */
  circles?: object;
  /** Members that replace those of the layer of counts; false for no counts. In a style without glyphs they are pictures. */
  counts?: object | false;
  /** Instead of zooming to where a cluster separates, unless it returns true. */
  onClick?: (feature: Feature, event: any) => boolean | void;
}

/** A layer for MapLibre GL: `mapLibreLayer(client, "cities").addTo(map)`. It waits for the map's style. */
export function mapLibreLayer(client: Client, source: string, options?: MapLibreOptions): {
  id: string;
  addTo(map: any): any;
  remove(): void;
};

/** The difference between what is to be shown and what the app has. */
export class MarkerQueue {
  readonly shown: Map<string, Marker>;
  readonly given: Map<string, Marker>;
  center: Position;
  readonly revision: number;
  readonly size: number;
  apply(item: object): void;
  take(most: number): Change;
}

/** How many markers the app takes on within half a frame. */
export class Pace {
  constructor(frameMs: number);
  readonly batch: number;
  took(milliseconds: number, markers: number): void;
}
