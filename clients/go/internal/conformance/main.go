// SPDX-License-Identifier: MIT

// The runner of the conformance cases: go run ./internal/conformance CASES.json DAEMON_SOCKET SERVERS_FOLDER
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"clusterd"
)

type callStep struct {
	Method    string
	Params    json.RawMessage
	Items     []json.RawMessage
	TimeoutMs int
}

type step struct {
	Call, Open             *callStep
	Together               []step
	Send                   json.RawMessage
	End, Cancel            bool
	Result, Item, Finished any
	Error, Failed          map[string]any
}

type example struct {
	Name   string
	Server []any
	Steps  []step
}

// session is one case's client and its open call.
type session struct {
	client *clusterd.Client
	stream *clusterd.Stream
	cancel context.CancelFunc
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	var cases struct{ Daemon, Servers []example }
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, found := range append(cases.Daemon, cases.Servers...) {
		socket := os.Args[2]
		if found.Server != nil {
			socket = filepath.Join(os.Args[3], found.Name+".sock")
		}
		if err := run(found, socket); err != nil {
			fmt.Printf("not ok %s: %v\n", found.Name, err)
		} else {
			fmt.Println("ok", found.Name)
		}
	}
}

func run(found example, socket string) error {
	s := &session{client: clusterd.New(clusterd.WithSocket(socket), clusterd.WithConnections(1))}
	defer s.client.Close()
	for number, step := range found.Steps {
		if err := s.take(step); err != nil {
			return fmt.Errorf("step %d: %w", number, err)
		}
	}
	if s.stream != nil {
		s.stream.Close()
		s.cancel()
	}
	return nil
}

func (s *session) take(step step) error {
	switch {
	case step.Call != nil:
		return s.call(step)
	case step.Together != nil:
		return s.together(step.Together)
	case step.Open != nil:
		var ctx context.Context
		ctx, s.cancel = deadline(step.Open)
		var err error
		s.stream, err = s.client.Stream(ctx, step.Open.Method, step.Open.Params)
		return err
	case step.Send != nil:
		return s.stream.Send(step.Send)
	case step.End:
		return s.stream.End()
	case step.Cancel:
		return s.stream.Cancel()
	}
	return s.next(step)
}

func deadline(call *callStep) (context.Context, context.CancelFunc) {
	if call.TimeoutMs == 0 {
		return context.WithCancel(context.Background())
	}
	return context.WithTimeout(context.Background(), time.Duration(call.TimeoutMs)*time.Millisecond)
}

func (s *session) call(step step) error {
	ctx, cancel := deadline(step.Call)
	defer cancel()
	var answer any
	var err error
	if items := step.Call.Items; items == nil {
		err = s.client.Call(ctx, step.Call.Method, step.Call.Params, &answer)
	} else {
		err = s.client.SendAll(ctx, step.Call.Method, step.Call.Params, func() (any, error) {
			if len(items) == 0 {
				return nil, io.EOF
			}
			item := items[0]
			items = items[1:]
			return item, nil
		}, &answer)
	}
	if step.Error != nil {
		return compareError(err, step.Error)
	}
	if err != nil {
		return err
	}
	return compare(answer, step.Result)
}

func (s *session) together(steps []step) error {
	errs := make([]error, len(steps))
	var group sync.WaitGroup
	for index := range steps {
		group.Add(1)
		go func(index int) {
			defer group.Done()
			errs[index] = s.call(steps[index])
		}(index)
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *session) next(step step) error {
	text, err := s.stream.Next()
	switch {
	case err == io.EOF && step.Finished != nil:
		text, step.Item = s.stream.Result(), step.Finished
	case err != nil && step.Failed != nil:
		return compareError(err, step.Failed)
	case err != nil:
		return err
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	return compare(value, step.Item)
}

func compareError(err error, pattern map[string]any) error {
	var failure *clusterd.Error
	if !errors.As(err, &failure) {
		return fmt.Errorf("%v is no error of a call", err)
	}
	if part, _ := pattern["message"].(string); !strings.Contains(failure.Message, part) {
		return fmt.Errorf("the message is %q", failure.Message)
	}
	shown := map[string]any{"status": failure.Code.String(), "details": any(failure.Details), "message": pattern["message"]}
	return compare(shown, any(pattern))
}

func compare(value, pattern any) error {
	if !agrees(value, pattern) {
		text, _ := json.Marshal(value)
		shown, _ := json.Marshal(pattern)
		return fmt.Errorf("%.400s is not %s", text, shown)
	}
	return nil
}

func agrees(value, pattern any) bool {
	switch pattern := pattern.(type) {
	case string:
		return pattern == "…" || value == pattern
	case map[string]any:
		members, isObject := value.(map[string]any)
		for name, part := range pattern {
			member, has := members[name]
			if !has || !agrees(member, part) {
				return false
			}
		}
		return isObject
	case []any:
		values, isArray := value.([]any)
		if !isArray || len(values) != len(pattern) {
			return false
		}
		for index := range pattern {
			if !agrees(values[index], pattern[index]) {
				return false
			}
		}
		return true
	case float64:
		number, isNumber := value.(float64)
		return isNumber && math.Abs(number-pattern) <= 1e-9*math.Max(1, math.Abs(pattern))
	default:
		return value == pattern
	}
}
