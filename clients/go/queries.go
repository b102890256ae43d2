// SPDX-License-Identifier: MIT

package clusterd

import "context"

// Clusters returns the clusters and points in a box at a zoom.
func (c *Client) Clusters(ctx context.Context, source string, query Query) (*FeatureCollection, error) {
	return get[FeatureCollection](ctx, c, "ClusterService/GetClusters", query.params(source))
}

// Children returns a cluster's children on the zoom at which it separates.
func (c *Client) Children(ctx context.Context, source string, cluster Cluster) (*FeatureCollection, error) {
	return get[FeatureCollection](ctx, c, "ClusterService/GetChildren", cluster.params(source))
}

// Leaves returns a page of a cluster's points; a limit of 0 is all.
func (c *Client) Leaves(ctx context.Context, source string, cluster Cluster, limit, offset int) (*FeatureCollection, error) {
	params := cluster.params(source)
	params["limit"], params["offset"] = limit, offset
	return get[FeatureCollection](ctx, c, "ClusterService/GetLeaves", params)
}

// ExpansionZoom returns the zoom at which a cluster separates.
func (c *Client) ExpansionZoom(ctx context.Context, source string, cluster Cluster) (int, error) {
	answer, err := get[struct{ Zoom int }](ctx, c, "ClusterService/GetClusterExpansionZoom", cluster.params(source))
	if err != nil {
		return 0, err
	}
	return answer.Zoom, nil
}

// Hull returns the smallest convex shape around a cluster's points.
func (c *Client) Hull(ctx context.Context, source string, cluster Cluster) (*Feature, error) {
	return get[Feature](ctx, c, "ClusterService/GetConvexHull", cluster.params(source))
}

// VectorTile returns a tile as a Mapbox Vector Tile; no bytes if it is empty.
func (c *Client) VectorTile(ctx context.Context, source string, z, x, y int) ([]byte, error) {
	params := map[string]any{"source": source, "z": z, "x": x, "y": y, "encoding": "mvt"}
	answer, err := get[struct{ Tile []byte }](ctx, c, "ClusterService/GetTile", params)
	if err != nil {
		return nil, err
	}
	return answer.Tile, nil
}

// Top returns the features in a box in order of an indexed property.
func (c *Client) Top(ctx context.Context, source string, query TopQuery) (*FeatureCollection, error) {
	return get[FeatureCollection](ctx, c, "ClusterService/TopFeatures", query.params(source))
}

// Histogram is how values are distributed: Counts[i] of them are from Edges[i] to below Edges[i+1], in the last bin to it.
type Histogram struct {
	Edges  []float64 `json:"edges"`
	Counts []int     `json:"counts"`
	Below  int       `json:"below"`
	Above  int       `json:"above"`
	// Missing is the number of points without a value.
	Missing  int   `json:"missing"`
	Revision int64 `json:"revision"`
}

// Histogram returns how the values of an indexed property are distributed in a box.
func (c *Client) Histogram(ctx context.Context, source string, query HistogramQuery) (*Histogram, error) {
	return get[Histogram](ctx, c, "ClusterService/GetHistogram", query.params(source))
}

// Grid is the tiles of a zoom with points, in order of Y, then X.
type Grid struct {
	Resolution int        `json:"resolution"`
	Cells      []GridCell `json:"cells"`
	Revision   int64      `json:"revision"`
}

// GridCell is a tile with points.
type GridCell struct {
	X          int `json:"x"`
	Y          int `json:"y"`
	PointCount int `json:"point_count"`
}

// Grid returns the tiles of a zoom that touch a box and have points.
func (c *Client) Grid(ctx context.Context, source string, query GridQuery) (*Grid, error) {
	return get[Grid](ctx, c, "ClusterService/GetGrid", query.params(source))
}

// Located is where a feature is seen.
type Located struct {
	// Feature is the cluster or point that shows it.
	Feature Feature `json:"feature"`
	// StandsAloneFrom is the first zoom at which it is in no cluster; nil if it never is.
	StandsAloneFrom *int  `json:"standsAloneFrom"`
	Revision        int64 `json:"revision"`
}

// Locate returns the cluster or point that shows a feature at a zoom. The id is a number or a string.
func (c *Client) Locate(ctx context.Context, source string, id any, zoom float64) (*Located, error) {
	params := map[string]any{"source": source, "featureId": id, "zoom": zoom}
	return get[Located](ctx, c, "ClusterService/LocateFeature", params)
}

// get calls a unary method whose answer is a Value.
func get[Value any](ctx context.Context, c *Client, method string, params any) (*Value, error) {
	value := new(Value)
	if err := c.Call(ctx, method, params, value); err != nil {
		return nil, err
	}
	return value, nil
}
