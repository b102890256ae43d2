// SPDX-License-Identifier: MIT

package clusterd

import "encoding/json"

// Window is a half-open range of one indexed property, such as {"time": {&from, nil}}; nil is unbounded.
type Window map[string][2]*float64

// BBox is west, south, east and north in degrees; west is greater than east across the antimeridian.
type BBox [4]float64

// World is the whole world.
var World = BBox{-180, -90, 180, 90}

// Geometry is a GeoJSON geometry.
type Geometry struct {
	Type        string          `json:"type"`
	Coordinates json.RawMessage `json:"coordinates"`
}

// Point returns the geometry of a position.
func Point(longitude, latitude float64) *Geometry {
	text, err := json.Marshal([2]float64{longitude, latitude})
	if err != nil { // not a finite number, which the daemon refuses with a reason
		text = []byte("[]")
	}
	return &Geometry{Type: "Point", Coordinates: text}
}

// Feature is a GeoJSON feature: a cluster or a point.
type Feature struct {
	Type string `json:"type"`
	// ID is a number or a string, as JSON; empty without an id.
	ID         json.RawMessage `json:"id,omitempty"`
	Geometry   *Geometry       `json:"geometry"`
	Properties map[string]any  `json:"properties"`
}

// NewPoint returns a feature at a position. The id is a number, a string, or nil for none.
func NewPoint(id any, longitude, latitude float64, properties map[string]any) Feature {
	feature := Feature{Type: "Feature", Geometry: Point(longitude, latitude), Properties: properties}
	if id != nil {
		feature.ID, _ = json.Marshal(id)
	}
	return feature
}

// Position returns the longitude and latitude of a point; ok is false for any other geometry.
func (f Feature) Position() (longitude, latitude float64, ok bool) {
	var position []float64
	if f.Geometry == nil || json.Unmarshal(f.Geometry.Coordinates, &position) != nil || len(position) < 2 {
		return 0, 0, false
	}
	return position[0], position[1], true
}

// IsCluster returns whether the feature is a cluster.
func (f Feature) IsCluster() bool { return f.Properties["cluster"] == true }

// ClusterID returns the id to use in calls about the cluster; 0 for a point.
func (f Feature) ClusterID() int64 { return f.integer("cluster_id") }

// Count returns how many points the feature stands for.
func (f Feature) Count() int64 {
	if !f.IsCluster() {
		return 1
	}
	return f.integer("point_count")
}

func (f Feature) integer(name string) int64 {
	number, _ := f.Properties[name].(float64)
	return int64(number)
}

// FeatureCollection is an answer with features.
type FeatureCollection struct {
	Type     string    `json:"type"`
	Features []Feature `json:"features"`
	// Revision is the number of the data that produced the answer.
	Revision int64 `json:"revision"`
	// Position is where the data are in the log of the table that the source follows; empty if it follows none.
	Position string `json:"position"`
	// Truncated says whether a limit left out features.
	Truncated bool `json:"truncated"`
	// Total is how many leaves there are; only in the answer of Leaves.
	Total int64 `json:"total"`
	// Warnings has advice about a box or a filter that is probably not what was meant.
	Warnings []string `json:"warnings"`
}

// Description describes a source.
type Description struct {
	Source         string           `json:"source"`
	Options        map[string]any   `json:"options"`
	Points         int64            `json:"points"`
	Revision       int64            `json:"revision"`
	Position       string           `json:"position"`
	BBox           []float64        `json:"bbox"`
	MemoryBytes    int64            `json:"memoryBytes"`
	BuildMs        float64          `json:"buildMs"`
	State          string           `json:"state"`
	CreatedAt      string           `json:"createdAt"`
	UpdatedAt      string           `json:"updatedAt"`
	Accepted       int64            `json:"accepted"`
	Skipped        int64            `json:"skipped"`
	SkippedReasons map[string]int64 `json:"skippedReasons"`
	Warnings       json.RawMessage  `json:"warnings"`
	Inserted       int64            `json:"inserted"`
	Updated        int64            `json:"updated"`
	Removed        int64            `json:"removed"`
	Missing        json.RawMessage  `json:"missing"`
}
