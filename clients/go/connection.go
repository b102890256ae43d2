// SPDX-License-Identifier: MIT

package clusterd

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// waitingItems is how many items of a stream wait before no more is read.
const waitingItems = 32

// grace is how much longer than the daemon this side waits before it gives up on the daemon itself.
const grace = 250 * time.Millisecond

// connection carries any number of calls. A goroutine reads it and hands messages to calls; it is lost with the
// first error.
type connection struct {
	socket  net.Conn
	writing sync.Mutex
	done    chan struct{}

	mutex  sync.Mutex
	lastID int64
	calls  map[int64]*call
	err    error
}

// call is a call under way. Messages come through events; a connection that is lost closes its done.
type call struct {
	connection *connection
	id         int64
	streams    bool
	events     chan message
	// over is closed when nobody waits for the answer any longer.
	over     chan struct{}
	overOnce sync.Once
}

func newConnection(socket net.Conn) *connection {
	c := &connection{socket: socket, calls: map[int64]*call{}, done: make(chan struct{})}
	go c.read()
	return c
}

func (c *connection) open(ctx context.Context, method string, params []byte, streams bool) (*call, error) {
	if ctx.Err() != nil {
		return nil, fromContext(ctx)
	}
	c.mutex.Lock()
	if c.err != nil {
		defer c.mutex.Unlock()
		return nil, c.err
	}
	c.lastID++
	opened := &call{
		connection: c, id: c.lastID, streams: streams, events: make(chan message, waitingItems), over: make(chan struct{}),
	}
	c.calls[opened.id] = opened
	c.mutex.Unlock()
	var timeoutMs int64
	if deadline, has := ctx.Deadline(); has {
		timeoutMs = int64(time.Until(deadline)/time.Millisecond) + 1
	}
	if err := c.write(ctx, opening(opened.id, method, params, timeoutMs)); err != nil {
		c.mutex.Lock()
		delete(c.calls, opened.id)
		c.mutex.Unlock()
		return nil, err
	}
	return opened, nil
}

// write sends whole frames. A daemon that has closed says why before: that error comes with the answer.
func (c *connection) write(ctx context.Context, data []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	deadline, _ := ctx.Deadline()
	_ = c.socket.SetWriteDeadline(deadline)
	stop := make(chan struct{})
	defer close(stop)
	if ctx.Done() != nil && len(data) > 1<<16 {
		go func() {
			select {
			case <-ctx.Done():
				_ = c.socket.SetWriteDeadline(time.Now())
			case <-stop:
			}
		}()
	}
	count, err := c.socket.Write(data)
	if err == nil || !errors.Is(err, context.DeadlineExceeded) && !isTimeout(err) {
		return nil
	}
	if count > 0 { // part of a frame was sent: nothing can follow it
		c.lose(lost("a message was sent in part"))
	}
	return fromContext(ctx)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

func (c *connection) read() {
	reader := bufio.NewReaderSize(c.socket, 1<<16)
	for {
		text, err := readFrame(reader)
		var found message
		if err == nil {
			found, err = readMessage(text)
		}
		if err == nil {
			err = c.deliver(found)
		}
		if err != nil {
			c.lose(readError(err))
			return
		}
	}
}

func readError(err error) error {
	var failure *Error
	switch {
	case errors.As(err, &failure):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return lost("the daemon closed it")
	default:
		return lost(err)
	}
}

func (c *connection) deliver(found message) error {
	if found.kind == kindNotice {
		return nil
	}
	if found.id == 0 {
		return fromWire(found.body)
	}
	c.mutex.Lock()
	receiver := c.calls[found.id]
	if receiver != nil && found.kind != kindItem {
		delete(c.calls, found.id)
	}
	c.mutex.Unlock()
	if receiver == nil {
		return violation("an answer to call %d, which is not open", found.id)
	}
	if found.kind == kindItem && !receiver.streams {
		return violation("an item for call %d, which has no stream", found.id)
	}
	select {
	case receiver.events <- found:
	case <-receiver.over:
	case <-c.done:
	}
	return nil
}

// lose ends the connection: its calls fail with the error once they have taken what came before.
func (c *connection) lose(err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.err == nil {
		c.err = err
		close(c.done)
		_ = c.socket.Close()
	}
}

func (c *connection) failure() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.err
}

// next returns the next message. A context that is over cancels the call; after its deadline the daemon's own
// answer is waited for a moment.
func (c *call) next(ctx context.Context) (message, error) {
	var late <-chan time.Time
	if deadline, has := ctx.Deadline(); has {
		timer := time.NewTimer(time.Until(deadline) + grace)
		defer timer.Stop()
		late = timer.C
	}
	cancelled := ctx.Done()
	for {
		select {
		case found := <-c.events:
			return found, nil
		default:
		}
		select {
		case found := <-c.events:
			return found, nil
		case <-c.connection.done:
			select {
			case found := <-c.events:
				return found, nil
			default:
				return message{}, c.connection.failure()
			}
		case <-cancelled:
			if ctx.Err() == context.Canceled {
				c.cancel()
				return message{}, fromContext(ctx)
			}
			cancelled = nil
		case <-late:
			c.cancel()
			return message{}, failed(DeadlineExceeded, "the daemon did not answer within the deadline")
		}
	}
}

// cancel cancels the call on the daemon; it does nothing if the call is over.
func (c *call) cancel() {
	c.overOnce.Do(func() {
		close(c.over)
		c.connection.mutex.Lock()
		_, isOpen := c.connection.calls[c.id]
		c.connection.mutex.Unlock()
		if isOpen {
			ctx, release := context.WithTimeout(context.Background(), grace)
			defer release()
			_ = c.connection.write(ctx, cancelFrame(c.id))
		}
	})
}
