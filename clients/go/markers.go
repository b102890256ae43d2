// SPDX-License-Identifier: MIT

package clusterd

import (
	"bytes"
	"encoding/json"
	"math"
	"sort"
	"time"
)

// Position is a longitude and a latitude.
type Position [2]float64

// Marker is a cluster or a point with its identity.
type Marker struct {
	// Key stays the same for as long as the marker does.
	Key     string
	Feature Feature
	// From is the key of the marker that it comes out of, and Start where that was; "" and nil if there is none.
	From  string
	Start *Position

	position Position
	text     []byte
}

// Removed is a marker that goes.
type Removed struct {
	Key string
	// Into is the key of the marker that absorbs it, and End where that is; "" and nil if there is none.
	Into string
	End  *Position
}

// Change is what the app does next: as much as it takes on within part of a frame, nearest to the centre first.
type Change struct {
	Removed []Removed
	Added   []Marker
	// Updated are markers that the app has, which now show something else.
	Updated []Marker
	// IsComplete says whether the app has everything now.
	IsComplete bool
	// Revision is the number of the newest data.
	Revision int64
}

// Count returns how many markers the change is about.
func (c Change) Count() int { return len(c.Removed) + len(c.Added) + len(c.Updated) }

// markerQueue is the difference between what is to be shown and what the app has. It knows no socket and no clock.
type markerQueue struct {
	shown, given map[string]Marker
	waiting      map[string]Removed
	order        []string
	revision     int64
	center       Position
}

func newMarkerQueue() *markerQueue {
	return &markerQueue{shown: map[string]Marker{}, given: map[string]Marker{}, waiting: map[string]Removed{}}
}

type wireRemoved struct{ Key, Into string }

// UnmarshalJSON reads a key, or a key with the one that absorbs it.
func (r *wireRemoved) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte{'"'}) {
		return json.Unmarshal(text, &r.Key)
	}
	type plain wireRemoved
	return json.Unmarshal(text, (*plain)(r))
}

type wireItem struct {
	Add, Update []json.RawMessage
	Remove      []wireRemoved
	Keep        *int
	Revision    *int64
}

// apply takes in an item of WatchClusters.
func (q *markerQueue) apply(text json.RawMessage) error {
	var item wireItem
	if err := json.Unmarshal(text, &item); err != nil || item.Keep == nil || item.Revision == nil {
		return violation("an item that is not a change of a viewport")
	}
	before := q.shown
	if len(item.Add) > 0 && len(item.Remove) > 0 { // markers come out of ones that go
		before = make(map[string]Marker, len(q.shown))
		for key, marker := range q.shown {
			before[key] = marker
		}
	}
	gone := make([]wireRemoved, 0, len(item.Remove))
	for _, removed := range item.Remove {
		if _, has := q.shown[removed.Key]; !has {
			return violation("a marker is removed that is not there")
		}
		delete(q.shown, removed.Key)
		gone = append(gone, removed)
	}
	for _, text := range append(append([]json.RawMessage{}, item.Add...), item.Update...) {
		if err := q.show(text, before); err != nil {
			return err
		}
	}
	for _, removed := range gone {
		step := Removed{Key: removed.Key}
		if target, has := q.shown[removed.Into]; has {
			step.Into, step.End = removed.Into, &Position{target.position[0], target.position[1]}
		}
		q.waiting[removed.Key] = step
	}
	kept := *item.Keep + len(item.Add)
	if count := len(q.shown); count != kept && count != kept+len(item.Update) {
		return violation("%d markers are shown, not %d", count, kept)
	}
	q.revision, q.order = *item.Revision, nil
	return nil
}

func (q *markerQueue) show(text json.RawMessage, before map[string]Marker) error {
	var wire struct {
		Feature
		Key, From string
	}
	if json.Unmarshal(text, &wire) != nil || wire.Key == "" {
		return violation("a marker that is no feature with a key")
	}
	longitude, latitude, ok := wire.Position()
	if !ok {
		return violation("a marker without a position")
	}
	marker := Marker{Key: wire.Key, Feature: wire.Feature, position: Position{longitude, latitude}, text: text}
	if origin, has := before[wire.From]; has && wire.From != "" {
		marker.From, marker.Start = wire.From, &Position{origin.position[0], origin.position[1]}
	} else if old, has := q.shown[wire.Key]; has {
		if _, isWaiting := q.waiting[wire.Key]; isWaiting {
			marker.From, marker.Start = old.From, old.Start
		}
	}
	q.shown[wire.Key] = marker
	q.waiting[wire.Key] = Removed{Key: wire.Key}
	return nil
}

// take returns the next part of the difference: at most so many markers, nearest to the centre first.
func (q *markerQueue) take(most int) Change {
	change := Change{Revision: q.revision}
	if len(q.order) == 0 {
		for key := range q.waiting {
			q.order = append(q.order, key)
		}
		sort.Slice(q.order, func(i, j int) bool {
			a, b := q.distance(q.order[i]), q.distance(q.order[j])
			return a > b || a == b && q.order[i] > q.order[j]
		})
	}
	for len(q.order) > 0 && change.Count() < most {
		key := q.order[len(q.order)-1]
		q.order = q.order[:len(q.order)-1]
		q.step(key, &change)
	}
	change.IsComplete = len(q.waiting) == 0
	return change
}

func (q *markerQueue) step(key string, change *Change) {
	removed := q.waiting[key]
	delete(q.waiting, key)
	old, has := q.given[key]
	marker, isShown := q.shown[key]
	switch {
	case !isShown && has:
		delete(q.given, key)
		change.Removed = append(change.Removed, removed)
	case isShown && !has:
		q.given[key] = marker
		change.Added = append(change.Added, marker)
	case isShown && !bytes.Equal(old.text, marker.text):
		q.given[key] = marker
		change.Updated = append(change.Updated, marker)
	}
}

func (q *markerQueue) distance(key string) float64 {
	marker, has := q.shown[key]
	if !has {
		if marker, has = q.given[key]; !has {
			return 0
		}
	}
	across := math.Mod(marker.position[0]-q.center[0]+540, 360) - 180
	across *= math.Cos(marker.position[1] * math.Pi / 180)
	up := marker.position[1] - q.center[1]
	return across*across + up*up
}

// pace is how many markers the app takes on within half a frame, learnt through a low-pass filter.
type pace struct {
	frame time.Duration
	// cost is the seconds that a marker takes.
	cost float64
}

const (
	smoothing   = 0.2
	share       = 0.5
	mostMarkers = 1000
)

func (p *pace) batch() int {
	if p.cost <= 0 {
		return mostMarkers
	}
	return int(math.Max(1, math.Min(mostMarkers, p.frame.Seconds()*share/p.cost)))
}

// took says that the app has taken on so many markers. A pause of more than a second counts as one second.
func (p *pace) took(duration time.Duration, markers int) {
	if markers > 0 {
		seconds := math.Min(math.Max(0, duration.Seconds()), 1)
		p.cost += smoothing * (seconds/float64(markers) - p.cost)
	}
}
