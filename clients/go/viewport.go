// SPDX-License-Identifier: MIT

package clusterd

import (
	"context"
	"io"
	"sync"
	"time"
)

// Viewport is a part of a map that is watched: call Next for what changes there.
//
// Markers keep their keys over zooms and revisions, and say what they come from and go into. Each change has as many
// markers as the app takes on within half a frame; what comes and goes meanwhile is left out. A daemon without
// transitions gives keys that stay while a marker shows the same. Any goroutine may move it; one calls Next. Close it, or
// end its context, once it is not needed: it has a connection and a goroutine of its own.
type Viewport struct {
	ctx    context.Context
	client *Client
	params object
	pace   pace

	mutex  sync.Mutex
	stream *Stream
	queue  *markerQueue

	transitions bool
	ended       bool
	items       chan viewportItem
	handed      time.Time
	count       int
}

type viewportItem struct {
	text []byte
	err  error
}

// ViewportOptions change how a viewport is watched. The zero value is right for most apps.
type ViewportOptions struct {
	// MaxRateHz is the most changes a second that the daemon sends; 0 is its default.
	MaxRateHz float64
	// Frame is the time from one change to the next while some wait; 16 ms by default.
	Frame time.Duration
	// WithoutTransitions asks for keys that stay only while a marker shows the same.
	WithoutTransitions bool
}

// Viewport watches a part of a map until the context ends it.
func (c *Client) Viewport(ctx context.Context, source string, query Query, options ViewportOptions) (*Viewport, error) {
	params := query.params(source)
	if options.MaxRateHz != 0 {
		params["maxRateHz"] = options.MaxRateHz
	}
	if !options.WithoutTransitions {
		params["transitions"] = true
	}
	if options.Frame == 0 {
		options.Frame = 16 * time.Millisecond
	}
	viewport := &Viewport{
		ctx: ctx, client: c, params: params, queue: newMarkerQueue(), transitions: !options.WithoutTransitions,
		pace: pace{frame: options.Frame, cost: 0.0002},
	}
	viewport.queue.center = center(query.BBox)
	return viewport, viewport.open()
}

func center(box BBox) Position {
	east := box[2]
	if east < box[0] {
		east += 360
	}
	return Position{(box[0] + east) / 2, (box[1] + box[3]) / 2}
}

func (v *Viewport) open() error {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	stream, err := v.client.Stream(v.ctx, "ClusterService/WatchClusters", v.params)
	if err != nil {
		return err
	}
	items := make(chan viewportItem)
	v.stream, v.items = stream, items
	go func() {
		for {
			text, err := stream.Next()
			select {
			case items <- viewportItem{text, err}:
			case <-stream.call.over:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return nil
}

// Move moves the viewport; what is shown there comes as changes.
func (v *Viewport) Move(box BBox, zoom float64) error {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.params["bbox"], v.params["zoom"] = box, zoom
	v.queue.center = center(box)
	return v.stream.Send(map[string]any{"bbox": box, "zoom": zoom})
}

// SetWindow replaces the window of which points count; nil removes it.
func (v *Viewport) SetWindow(window Window) error {
	if window == nil {
		return v.restrict("window", nil)
	}
	return v.restrict("window", window)
}

// SetPin replaces the ids of the features that are shown as points of their own; without any nothing is pinned.
func (v *Viewport) SetPin(ids ...any) error {
	if len(ids) == 0 {
		return v.restrict("pin", nil)
	}
	return v.restrict("pin", ids)
}

func (v *Viewport) restrict(name string, value any) error {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.params[name] = value
	if value == nil {
		delete(v.params, name)
	}
	return v.stream.Send(map[string]any{"bbox": v.params["bbox"], "zoom": v.params["zoom"], name: value})
}

// Markers returns what the app has been given, by key.
func (v *Viewport) Markers() map[string]Marker {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	markers := make(map[string]Marker, len(v.queue.given))
	for key, marker := range v.queue.given {
		markers[key] = marker
	}
	return markers
}

// Next returns the next change; io.EOF once the watching has ended. After any other error the viewport is closed.
func (v *Viewport) Next() (Change, error) {
	if v.count > 0 {
		v.pace.took(time.Since(v.handed), v.count)
	}
	wait := time.Until(v.handed.Add(v.pace.frame))
	if v.count == 0 || wait < 0 {
		wait = 0
	}
	if err := v.receive(wait); err != nil {
		v.Close()
		return Change{}, err
	}
	v.mutex.Lock()
	change := v.queue.take(v.pace.batch())
	v.mutex.Unlock()
	if v.ended && change.Count() == 0 {
		return Change{}, io.EOF
	}
	v.handed, v.count = time.Now(), change.Count()
	return change, nil
}

// receive takes in items: it waits for one if nothing waits for the app, and at least for the rest of the frame.
func (v *Viewport) receive(wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for !v.ended {
		expired := timer.C
		if v.isEmpty() {
			expired = nil
		}
		select {
		case item := <-v.items:
			isChange, err := v.take(item)
			if err != nil {
				return err
			}
			if isChange && v.isEmpty() {
				return nil
			}
		case <-expired:
			return nil
		}
	}
	return nil
}

func (v *Viewport) isEmpty() bool {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return len(v.queue.waiting) == 0
}

// take takes in an item; isChange is false for the end, and for a daemon that is asked again.
func (v *Viewport) take(item viewportItem) (isChange bool, err error) {
	if item.err == io.EOF {
		v.ended = true
		return false, nil
	}
	if failure, ok := item.err.(*Error); ok && v.transitions && failure.Details["param"] == "params.transitions" {
		v.transitions = false
		v.mutex.Lock()
		delete(v.params, "transitions")
		v.mutex.Unlock()
		return false, v.open()
	}
	if item.err != nil {
		return false, item.err
	}
	v.transitions = false // the daemon has taken the params
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return true, v.queue.apply(item.text)
}

// End ends the watching; Next returns what waits, and then io.EOF.
func (v *Viewport) End() error {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.stream.End()
}

// Close ends the watching at once.
func (v *Viewport) Close() {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.stream.call.cancel()
	v.stream.connection.lose(lost("this client closed it"))
}
