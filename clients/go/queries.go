// SPDX-License-Identifier: MIT

package clusterd

import "context"

// Query is what is asked of a source. Members with their zero value are left out.
type Query struct {
	BBox BBox    `json:"bbox"`
	Zoom float64 `json:"zoom"`
	// Limit is the most features; 0 is no limit.
	Limit int `json:"limit,omitempty"`
	// Properties are the names of those to keep; nil is all.
	Properties []string `json:"properties,omitempty"`
	// Precision is how many decimals coordinates have; nil is all.
	Precision *int `json:"precision,omitempty"`
	// Filter is an expression that features must pass.
	Filter any `json:"filter,omitempty"`
	// Include names further members of clusters: hull, bbox, expansionZoom, coincident, anchor.
	Include []string `json:"include,omitempty"`
	// Revision is the only one that may answer; 0 is any.
	Revision int64 `json:"revision,omitempty"`
	// AtLeast is a position in the log of the source's table; the call waits for it.
	AtLeast string `json:"atLeast,omitempty"`
}

// Cluster names a cluster.
type Cluster struct {
	ID int64 `json:"clusterId"`
	// Filter is the expression with which the cluster was found.
	Filter any `json:"filter,omitempty"`
	// Zoom is the one at which the cluster was found; only needed if Filter depends on the zoom.
	Zoom *float64 `json:"zoom,omitempty"`
	// Revision is the only one that may answer; 0 is any.
	Revision int64 `json:"revision,omitempty"`
	// AtLeast is a position in the log of the source's table; the call waits for it.
	AtLeast string `json:"atLeast,omitempty"`
}

type sourceQuery struct {
	Source string `json:"source"`
	Query
}

type sourceCluster struct {
	Source string `json:"source"`
	Cluster
	Limit  *int `json:"limit,omitempty"`
	Offset int  `json:"offset,omitempty"`
}

// Clusters returns the clusters and points in a box at a zoom.
func (c *Client) Clusters(ctx context.Context, source string, query Query) (*FeatureCollection, error) {
	return get[FeatureCollection](ctx, c, "ClusterService/GetClusters", sourceQuery{source, query})
}

// Children returns a cluster's children on the zoom at which it separates.
func (c *Client) Children(ctx context.Context, source string, cluster Cluster) (*FeatureCollection, error) {
	return get[FeatureCollection](ctx, c, "ClusterService/GetChildren", sourceCluster{Source: source, Cluster: cluster})
}

// Leaves returns a page of a cluster's points; a limit of 0 is all.
func (c *Client) Leaves(ctx context.Context, source string, cluster Cluster, limit, offset int) (*FeatureCollection, error) {
	params := sourceCluster{Source: source, Cluster: cluster, Limit: &limit, Offset: offset}
	return get[FeatureCollection](ctx, c, "ClusterService/GetLeaves", params)
}

// ExpansionZoom returns the zoom at which a cluster separates.
func (c *Client) ExpansionZoom(ctx context.Context, source string, cluster Cluster) (int, error) {
	answer, err := get[struct{ Zoom int }](
		ctx, c, "ClusterService/GetClusterExpansionZoom", sourceCluster{Source: source, Cluster: cluster})
	if err != nil {
		return 0, err
	}
	return answer.Zoom, nil
}

// Hull returns the smallest convex shape around a cluster's points.
func (c *Client) Hull(ctx context.Context, source string, cluster Cluster) (*Feature, error) {
	return get[Feature](ctx, c, "ClusterService/GetConvexHull", sourceCluster{Source: source, Cluster: cluster})
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
