// SPDX-License-Identifier: MIT

package clusterd

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"testing"
	"time"
)

func markerText(key string, longitude float64, value int, from string) string {
	origin := ""
	if from != "" {
		origin = fmt.Sprintf(`,"from":%q`, from)
	}
	return fmt.Sprintf(
		`{"type":"Feature","geometry":{"type":"Point","coordinates":[%v,0]},"properties":{"value":%d},"key":%q%s}`,
		longitude, value, key, origin)
}

func itemText(add, update, remove []string, keep int) json.RawMessage {
	list := func(texts []string) json.RawMessage {
		raw := make([]json.RawMessage, len(texts))
		for index, text := range texts {
			raw[index] = json.RawMessage(text)
		}
		text, _ := json.Marshal(raw)
		return text
	}
	return json.RawMessage(fmt.Sprintf(
		`{"add":%s,"update":%s,"remove":%s,"keep":%d,"revision":1}`, list(add), list(update), list(remove), keep))
}

func TestASlowAppEndsWithWhatIsShown(t *testing.T) {
	for seed := int64(0); seed < 200; seed++ {
		generator := rand.New(rand.NewSource(seed))
		queue, shown, app := newMarkerQueue(), map[string]int{}, map[string]int{}
		for revision := 1; revision < 12; revision++ {
			var add, update, remove []string
			keep := 0
			for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
				_, has := shown[key]
				position := generator.Float64()*360 - 180
				switch choice := generator.Intn(3); {
				case has && choice == 0:
					remove = append(remove, fmt.Sprintf(`{"key":%q}`, key))
					delete(shown, key)
				case has && choice == 1:
					update = append(update, markerText(key, position, revision, ""))
					shown[key] = revision
				case has:
					keep++
				case choice == 0:
					add = append(add, markerText(key, position, revision, ""))
					shown[key] = revision
				}
			}
			if err := queue.apply(itemText(add, update, remove, keep)); err != nil {
				t.Fatal(err)
			}
			drain(t, queue, app, generator.Intn(4))
		}
		drain(t, queue, app, 10000)
		if !reflect.DeepEqual(app, shown) {
			t.Fatalf("the app has %v, not %v", app, shown)
		}
	}
}

func drain(t *testing.T, queue *markerQueue, app map[string]int, most int) {
	t.Helper()
	change := queue.take(most)
	if change.Count() > most {
		t.Fatalf("%d markers of at most %d", change.Count(), most)
	}
	for _, removed := range change.Removed {
		delete(app, removed.Key)
	}
	for _, marker := range append(change.Added, change.Updated...) {
		app[marker.Key] = int(marker.Feature.Properties["value"].(float64))
	}
}

func TestMarkersComeOutOfAndGoIntoOthers(t *testing.T) {
	queue := newMarkerQueue()
	steps := []json.RawMessage{
		itemText([]string{markerText("a", 10, 1, "")}, nil, nil, 0),
		itemText([]string{markerText("b", 12, 1, "a")}, []string{markerText("a", 8, 2, "")}, nil, 0),
		itemText(nil, []string{markerText("a", 9, 3, "")}, []string{`{"key":"b","into":"a"}`}, 0),
	}
	var changes []Change
	for _, text := range steps {
		if err := queue.apply(text); err != nil {
			t.Fatal(err)
		}
		changes = append(changes, queue.take(9))
	}
	if added := changes[1].Added[0]; added.From != "a" || *added.Start != (Position{10, 0}) {
		t.Errorf("b comes from %q at %v", added.From, added.Start)
	}
	if removed := changes[2].Removed[0]; removed.Into != "a" || *removed.End != (Position{9, 0}) {
		t.Errorf("b goes into %q at %v", removed.Into, removed.End)
	}
}

func TestTheNearestToTheCentreComesFirst(t *testing.T) {
	queue := newMarkerQueue()
	queue.center = Position{179, 0}
	add := []string{markerText("far", 0, 1, ""), markerText("near", -179, 1, ""), markerText("nearest", 178.5, 1, "")}
	if err := queue.apply(itemText(add, nil, nil, 0)); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"nearest", "near", "far"} {
		if found := queue.take(1).Added[0].Key; found != key {
			t.Errorf("%s comes before %s", found, key)
		}
	}
}

func TestItemsThatDoNotFitAreRefused(t *testing.T) {
	for _, text := range []string{
		`null`, `{}`, `{"add":[],"remove":["x"],"keep":0,"revision":1}`, `{"add":[],"remove":[],"keep":3,"revision":1}`,
		`{"add":[{"key":"a"}],"remove":[],"keep":0,"revision":1}`, `{"add":[],"remove":[],"keep":0,"revision":"x"}`,
	} {
		if err := newMarkerQueue().apply(json.RawMessage(text)); CodeOf(err) != Internal {
			t.Errorf("%s gives %v", text, err)
		}
	}
}

func TestBatchesFollowWhatTheAppTakes(t *testing.T) {
	p := pace{frame: 16 * time.Millisecond, cost: 0.0002}
	for range [50]int{} {
		p.took(time.Duration(p.batch())*time.Millisecond, p.batch())
	}
	if p.batch() != 8 { // half of 16 ms at 1 ms a marker, rounded down
		t.Errorf("a batch of %d", p.batch())
	}
}
