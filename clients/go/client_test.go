// SPDX-License-Identifier: MIT

package clusterd

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

func TestSocketsAreTriedInOrder(t *testing.T) {
	variables := func(values map[string]string) func(string) string {
		return func(name string) string { return values[name] }
	}
	both := map[string]string{"CLUSTERD_SOCKET": "/b", "XDG_RUNTIME_DIR": "/r"}
	session := map[string]string{"XDG_RUNTIME_DIR": "/r"}
	for _, example := range []struct {
		path      string
		variables map[string]string
		expected  []string
	}{
		{"/a", both, []string{"/a"}}, {"", both, []string{"/b"}},
		{"", session, []string{"/r/clusterd.sock", systemSocket}}, {"", nil, []string{systemSocket}},
	} {
		if found := candidates(example.path, variables(example.variables)); !reflect.DeepEqual(found, example.expected) {
			t.Errorf("%v", found)
		}
	}
}

func TestErrorsAreContextErrorsToo(t *testing.T) {
	if !errors.Is(failed(DeadlineExceeded, ""), context.DeadlineExceeded) || !errors.Is(failed(Cancelled, ""), context.Canceled) {
		t.Error("errors.Is does not find the context's errors")
	}
	if CodeOf(nil) != OK || CodeOf(io.EOF) != Unknown || Code(99).String() != "CODE_99" {
		t.Error("codes of other errors")
	}
}

// The socket's deadline may pass a moment before that of the context, which then has no error yet.
func TestADeadlineThatTheSocketSeesFirst(t *testing.T) {
	ctx, release := context.WithTimeout(context.Background(), time.Hour)
	if err := fromContext(ctx); err.Code != DeadlineExceeded {
		t.Error(err)
	}
	release()
	if err := fromContext(ctx); err.Code != Cancelled {
		t.Error(err)
	}
}

// A call that could not be sent in time is not waited for any longer.
func TestACallThatIsNotSentIsForgotten(t *testing.T) {
	near, far := net.Pipe() // nobody reads the far end
	defer far.Close()
	connection := newConnection(near)
	defer connection.lose(lost("the test is over"))
	ctx, release := context.WithTimeout(context.Background(), time.Millisecond)
	defer release()
	if _, err := connection.open(ctx, "ServerService/Check", []byte("{}"), false); CodeOf(err) != DeadlineExceeded {
		t.Error(err)
	}
	if len(connection.calls) != 0 || connection.failure() != nil {
		t.Errorf("%d calls, %v", len(connection.calls), connection.failure())
	}
}

// serve plays a daemon and returns the path of its socket.
func serve(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			socket, err := listener.Accept()
			if err != nil {
				return
			}
			go answer(socket)
		}
	}()
	return path
}

// A viewport that fails closes its connection, although nobody closes the viewport.
func TestAViewportThatFailsIsClosed(t *testing.T) {
	closed := make(chan struct{})
	path := serve(t, func(socket net.Conn) {
		_, _ = socket.Write(frame([]byte(`{"id":1,"item":{"added":7}}`)))
		_, _ = io.Copy(io.Discard, socket)
		close(closed)
	})
	viewport, err := New(WithSocket(path)).Viewport(context.Background(), "any", Query{BBox: World}, ViewportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if change, err := viewport.Next(); err == nil || err == io.EOF {
		t.Fatalf("%v %v", change, err)
	}
	<-closed
}

// A daemon that does not know transitions is asked again without them.
func TestAViewportDoesWithoutTransitions(t *testing.T) {
	path := serve(t, serveWithoutTransitions)
	viewport, err := New(WithSocket(path)).Viewport(context.Background(), "any", Query{BBox: World}, ViewportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer viewport.Close()
	change, err := viewport.Next()
	if err != nil || len(change.Added) != 1 || change.Added[0].Key != "k" {
		t.Fatalf("%v %v", change, err)
	}
	if _, err := viewport.Next(); err != io.EOF {
		t.Fatal(err)
	}
}

func serveWithoutTransitions(socket net.Conn) {
	defer socket.Close()
	prefix := make([]byte, prefixBytes)
	if _, err := io.ReadFull(socket, prefix); err != nil {
		return
	}
	body := make([]byte, int(prefix[3])<<8|int(prefix[4]))
	if _, err := io.ReadFull(socket, body); err != nil {
		return
	}
	var call struct{ Params map[string]any }
	if json.Unmarshal(body, &call) != nil || call.Params["transitions"] != nil {
		_, _ = socket.Write(frame([]byte(`{"id":1,"error":{"code":3,"message":"","details":{"param":"params.transitions"}}}`)))
	} else {
		item := itemText([]string{markerText("k", 1, 1, "")}, nil, nil, 0)
		_, _ = socket.Write(frame([]byte(`{"id":1,"item":`), item, []byte("}")))
		_, _ = socket.Write(frame([]byte(`{"id":1,"end":{}}`)))
	}
	_, _ = io.Copy(io.Discard, socket)
}

// Against a real daemon, whose socket is $CLUSTERD_SOCKET.
func TestADaemonAnswers(t *testing.T) {
	if os.Getenv("CLUSTERD_SOCKET") == "" {
		t.Skip("$CLUSTERD_SOCKET names no daemon")
	}
	ctx := context.Background()
	client, err := Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.EnsureSource(ctx, "go", map[string]any{
		"radius": 60, "indexedProperties": map[string]any{"n": []any{"get", "n"}}}); err != nil {
		t.Fatal(err)
	}
	var features []Feature
	for index := 0; index < 5000; index++ {
		features = append(features, NewPoint(index, float64(index%100)/10, float64(index/100)/10, map[string]any{"n": index}))
	}
	description, err := client.ImportFeatures(ctx, "go", Each(features), ImportOptions{})
	if err != nil || description.Accepted != 5000 {
		t.Fatalf("%v %v", description, err)
	}
	// An import that breaks off leaves no new source behind, and an old one as it was.
	broken := func() (Feature, error) { return Feature{}, io.ErrUnexpectedEOF }
	for _, source := range []string{"go", "go-new"} {
		_, err := client.ImportFeatures(ctx, source, broken, ImportOptions{SourceOptions: map[string]any{
			"radius": 60, "indexedProperties": map[string]any{"n": []any{"get", "n"}}}})
		if err != io.ErrUnexpectedEOF {
			t.Errorf("a broken import of %s: %v", source, err)
		}
	}
	if _, err := client.Source(ctx, "go-new"); CodeOf(err) != NotFound {
		t.Errorf("the new source is left: %v", err)
	}
	count := 0
	err = client.Features(ctx, "go", []any{"<", []any{"get", "n"}, 100}, func(Feature) error { count++; return nil })
	if err != nil || count != 100 {
		t.Errorf("%d features, %v", count, err)
	}
	query := Query{BBox: BBox{0, 0, 5, 5}, Zoom: 6}
	viewport, err := client.Viewport(ctx, "go", query, ViewportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer viewport.Close()
	for _, zoom := range []float64{4, 8, 6} {
		query.Zoom = zoom
		if err := viewport.Move(query.BBox, zoom); err != nil {
			t.Fatal(err)
		}
		answer, err := client.Clusters(ctx, "go", query)
		if err != nil {
			t.Fatal(err)
		}
		expectMarkers(t, viewport, answer)
	}
	expectRestrictions(t, client, viewport, query)
	cluster := Cluster{ID: firstCluster(t, client, query).ClusterID()}
	if leaves, err := client.Leaves(ctx, "go", cluster, 3, 1); err != nil || len(leaves.Features) != 3 || leaves.Total < 4 {
		t.Errorf("%v %v", leaves, err)
	}
	if hull, err := client.Hull(ctx, "go", cluster); err != nil || hull.Geometry.Type != "Polygon" {
		t.Errorf("%v %v", hull, err)
	}
	if located, err := client.Locate(ctx, "go", 7, 4); err != nil || !located.Feature.IsCluster() {
		t.Errorf("%v %v", located, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := client.Clusters(cancelled, "go", query); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// expectRestrictions moves windows and pins of a viewport, and asks for tops, histograms and grids.
func expectRestrictions(t *testing.T, client *Client, viewport *Viewport, query Query) {
	t.Helper()
	ctx, thousand := context.Background(), 1000.0
	for _, step := range []struct {
		window Window
		pin    []any
	}{{Window{"n": {nil, &thousand}}, nil}, {Window{"n": {&thousand, nil}}, []any{1200}}, {nil, []any{1200}}, {nil, nil}} {
		query.Window, query.Pin = step.window, step.pin
		if err := viewport.SetWindow(step.window); err != nil {
			t.Fatal(err)
		}
		if err := viewport.SetPin(step.pin...); err != nil {
			t.Fatal(err)
		}
		answer, err := client.Clusters(ctx, "go", query)
		if err != nil {
			t.Fatal(err)
		}
		expectMarkers(t, viewport, answer)
	}
	world := BBox{-180, -90, 180, 90}
	top, err := client.Top(ctx, "go", TopQuery{BBox: world, By: "n", Limit: 2, Window: Window{"n": {nil, &thousand}}})
	if err != nil || len(top.Features) != 2 || top.Features[0].Properties["n"] != 999.0 {
		t.Errorf("%v %v", top, err)
	}
	histogram, err := client.Histogram(ctx, "go", HistogramQuery{BBox: world, Property: "n", Edges: []float64{0, 1000, 4999}})
	if err != nil || !reflect.DeepEqual(histogram.Counts, []int{1000, 4000}) {
		t.Errorf("%v %v", histogram, err)
	}
	grid, err := client.Grid(ctx, "go", GridQuery{BBox: world, Resolution: 3})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, cell := range grid.Cells {
		count += cell.PointCount
	}
	if count != 5000 {
		t.Errorf("a grid of %d points", count)
	}
}

func firstCluster(t *testing.T, client *Client, query Query) Feature {
	t.Helper()
	answer, err := client.Clusters(context.Background(), "go", query)
	if err != nil || len(answer.Features) == 0 {
		t.Fatalf("%v %v", answer, err)
	}
	return answer.Features[0]
}

// expectMarkers takes changes until the markers are those of the answer. The test's deadline ends a wait in vain.
func expectMarkers(t *testing.T, viewport *Viewport, answer *FeatureCollection) {
	t.Helper()
	expected := map[string]int{}
	for _, feature := range answer.Features {
		text, _ := json.Marshal(feature)
		expected[string(text)]++
	}
	for {
		if _, err := viewport.Next(); err != nil {
			t.Fatal(err)
		}
		shown := map[string]int{}
		for _, marker := range viewport.Markers() {
			text, _ := json.Marshal(marker.Feature)
			shown[string(text)]++
		}
		if reflect.DeepEqual(shown, expected) {
			return
		}
	}
}
