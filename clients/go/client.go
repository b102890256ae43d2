// SPDX-License-Identifier: MIT

// Package clusterd is a client of clusterd, the daemon that clusters points for maps.
//
//	client, err := clusterd.Connect(ctx)
//	answer, err := client.Clusters(ctx, "cities", clusterd.Query{BBox: clusterd.World, Zoom: 3})
package clusterd

import (
	"context"
	"encoding/json"
	"io"
	"sync"
)

// Client calls the daemon. Any number of goroutines may call at once. Unary calls share a few connections, which are
// opened when they are needed and replaced when they are lost; each stream has its own.
type Client struct {
	path string

	mutex  sync.Mutex
	shared []*connection
	next   int
	closed bool
}

// Option changes how a client is made.
type Option func(*Client)

// WithSocket names the daemon's socket. Without it the socket is $CLUSTERD_SOCKET, else the first of
// $XDG_RUNTIME_DIR/clusterd.sock and /run/clusterd/clusterd.sock that answers.
func WithSocket(path string) Option { return func(c *Client) { c.path = path } }

// WithConnections sets how many connections unary calls share; 2 by default.
func WithConnections(count int) Option {
	return func(c *Client) {
		if count > 0 {
			c.shared = make([]*connection, count)
		}
	}
}

// New returns a client that connects with its first call.
func New(options ...Option) *Client {
	client := &Client{shared: make([]*connection, 2)}
	for _, option := range options {
		option(client)
	}
	return client
}

// Connect returns a client of the daemon, which must answer.
func Connect(ctx context.Context, options ...Option) (*Client, error) {
	client := New(options...)
	if _, err := client.Check(ctx); err != nil {
		return nil, err
	}
	return client, nil
}

// Close closes the connections of unary calls; those under way fail with Unavailable.
func (c *Client) Close() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.closed = true
	for _, shared := range c.shared {
		if shared != nil {
			shared.lose(lost("this client closed it"))
		}
	}
	return nil
}

// connection returns the next shared connection, opened if there is none or it was lost.
func (c *Client) connection(ctx context.Context) (*connection, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed {
		return nil, lost("this client closed it")
	}
	c.next = (c.next + 1) % len(c.shared)
	if shared := c.shared[c.next]; shared != nil && shared.failure() == nil {
		return shared, nil
	}
	socket, err := dial(ctx, c.path)
	if err != nil {
		return nil, err
	}
	c.shared[c.next] = newConnection(socket)
	return c.shared[c.next], nil
}

// Call calls a unary method, such as "ClusterService/GetClusters". The params are anything that becomes a JSON
// object, or nil; the result is what json.Unmarshal takes, or nil.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	text, err := encode(params)
	if err != nil {
		return err
	}
	shared, err := c.connection(ctx)
	if err != nil {
		return err
	}
	opened, err := shared.open(ctx, method, text, false)
	if err != nil {
		return err
	}
	answer, err := opened.next(ctx)
	if err != nil {
		return err
	}
	return decode(answer, result)
}

func encode(params any) ([]byte, error) {
	if params == nil {
		return []byte("{}"), nil
	}
	text, err := json.Marshal(params)
	if err != nil {
		return nil, failed(InvalidArgument, "the params are not JSON: %v", err)
	}
	return text, nil
}

func decode(answer message, result any) error {
	if answer.kind == kindError {
		return fromWire(answer.body)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(answer.body, result); err != nil {
		return violation("%v", err)
	}
	return nil
}

// Stream is a call with streams. One goroutine takes items; any may send, end and cancel.
type Stream struct {
	ctx        context.Context
	connection *connection
	call       *call
	result     json.RawMessage
	isOver     bool
}

// Stream opens a call with streams on a connection of its own. The context ends it.
func (c *Client) Stream(ctx context.Context, method string, params any) (*Stream, error) {
	return c.stream(ctx, method, params, true)
}

func (c *Client) stream(ctx context.Context, method string, params any, items bool) (*Stream, error) {
	text, err := encode(params)
	if err != nil {
		return nil, err
	}
	socket, err := dial(ctx, c.path)
	if err != nil {
		return nil, err
	}
	own := newConnection(socket)
	opened, err := own.open(ctx, method, text, items)
	if err != nil {
		own.lose(lost("this client closed it"))
		return nil, err
	}
	return &Stream{ctx: ctx, connection: own, call: opened}, nil
}

// Send sends an item: anything that becomes a JSON object, or its text as json.RawMessage.
func (s *Stream) Send(item any) error {
	text, err := encode(item)
	if err != nil {
		return err
	}
	return s.connection.write(s.ctx, itemFrame(s.call.id, text))
}

// End says that no more items follow.
func (s *Stream) End() error { return s.connection.write(s.ctx, endFrame(s.call.id)) }

// Cancel asks the daemon to stop; Next then fails with Cancelled.
func (s *Stream) Cancel() error { return s.connection.write(s.ctx, cancelFrame(s.call.id)) }

// Next returns the next item; io.EOF once the stream has ended, after which Result has its last message.
func (s *Stream) Next() (json.RawMessage, error) {
	if s.isOver {
		return nil, io.EOF
	}
	found, err := s.call.next(s.ctx)
	if err == nil && found.kind == kindItem {
		return found.body, nil
	}
	s.Close()
	switch {
	case err != nil:
		return nil, err
	case found.kind == kindError:
		return nil, fromWire(found.body)
	}
	s.result = found.body
	return nil, io.EOF
}

// hasNews returns whether Next has something without waiting.
func (s *Stream) hasNews() bool {
	select {
	case <-s.connection.done:
		return true
	default:
		return len(s.call.events) > 0
	}
}

// Result returns the last message of a stream that has ended.
func (s *Stream) Result() json.RawMessage { return s.result }

// Close ends the stream; the daemon cancels a call that is not over.
func (s *Stream) Close() {
	s.isOver = true
	s.connection.lose(lost("this client closed it"))
}

// SendAll calls a method that takes a stream of items. It takes items until next returns io.EOF, and stops early if
// the daemon refuses.
func (c *Client) SendAll(ctx context.Context, method string, params any, next func() (any, error), result any) error {
	stream, err := c.stream(ctx, method, params, false)
	if err != nil {
		return err
	}
	defer stream.Close()
	for !stream.hasNews() {
		item, err := next()
		if err == io.EOF {
			if err := stream.End(); err != nil {
				return err
			}
			break
		}
		if err != nil {
			return err
		}
		if err := stream.Send(item); err != nil {
			return err
		}
	}
	answer, err := stream.call.next(ctx)
	if err != nil {
		return err
	}
	return decode(answer, result)
}
