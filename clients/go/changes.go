// SPDX-License-Identifier: MIT

package clusterd

import (
	"context"
	"encoding/json"
	"io"
	"time"
)

// LogChange is an item of a log: changes that become visible together, with the log's position after them.
type LogChange struct {
	Position string `json:"position"`
	// Upsert are features to insert or replace, each with an id.
	Upsert []Feature `json:"upsert,omitempty"`
	// Remove are ids of features to remove.
	Remove []any `json:"remove,omitempty"`
}

// Applied says that all changes up to a position are visible and on disk. The counts are of those since the last answer.
type Applied struct {
	Position string
	Revision uint64
	Inserted int
	Updated  int
	Removed  int
	Missing  int
	Skipped  int
}

// ApplyOptions say how a log is applied.
type ApplyOptions struct {
	// SkipInvalid leaves out invalid features instead of failing.
	SkipInvalid bool
	// Applied is called with each answer; it may be nil.
	Applied func(Applied)
}

// ApplyChanges applies a log's changes to a source exactly once. The function changes sends the log's items after a position, from
// its beginning if that is empty, and returns once there are no more, or with the error of send. If the daemon cannot be reached,
// ApplyChanges connects again after 0.1 to 30 seconds and calls it with the position that the source has.
func (c *Client) ApplyChanges(
	ctx context.Context, source, log string, options ApplyOptions, changes func(position string, send func(LogChange) error) error,
) error {
	pause := 100 * time.Millisecond
	for {
		began, err := c.applyOnce(ctx, source, log, options, changes)
		if CodeOf(err) != Unavailable {
			return err
		}
		if began {
			pause = 100 * time.Millisecond
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		if pause *= 2; pause > 30*time.Second {
			pause = 30 * time.Second
		}
	}
}

// applyOnce returns whether the stream has begun.
func (c *Client) applyOnce(
	ctx context.Context, source, log string, options ApplyOptions, changes func(position string, send func(LogChange) error) error,
) (bool, error) {
	params := object{"source": source, "log": log}
	if options.SkipInvalid {
		params["onInvalid"] = "skip"
	}
	stream, err := c.Stream(ctx, "SourceService/ApplyChanges", params)
	if err != nil {
		return false, err
	}
	defer stream.Close()
	var first struct{ Position *string }
	text, err := stream.Next()
	if err == nil {
		err = json.Unmarshal(text, &first)
	}
	if err != nil {
		return false, err
	}
	position := ""
	if first.Position != nil {
		position = *first.Position
	}
	sent := make(chan error, 1)
	go func() {
		err := changes(position, func(change LogChange) error { return stream.Send(change) })
		if err == nil {
			err = stream.End()
		} else {
			// The reading side then ends, too.
			_ = stream.Cancel()
		}
		sent <- err
	}()
	for {
		text, err := stream.Next()
		if err == io.EOF {
			return true, <-sent
		}
		if err != nil {
			stream.Close()
			if own := <-sent; own != nil && CodeOf(err) == Cancelled {
				return true, own
			}
			return true, err
		}
		var applied Applied
		if err := json.Unmarshal(text, &applied); err != nil {
			return true, err
		}
		if options.Applied != nil {
			options.Applied(applied)
		}
	}
}
