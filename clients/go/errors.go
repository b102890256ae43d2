// SPDX-License-Identifier: MIT

package clusterd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Code is a status code of gRPC.
type Code int

// The status codes.
const (
	OK Code = iota
	Cancelled
	Unknown
	InvalidArgument
	DeadlineExceeded
	NotFound
	AlreadyExists
	PermissionDenied
	ResourceExhausted
	FailedPrecondition
	Aborted
	OutOfRange
	Unimplemented
	Internal
	Unavailable
	DataLoss
	Unauthenticated
)

var names = [...]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
	"INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

// String returns the name of the code, such as NOT_FOUND.
func (c Code) String() string {
	if c < 0 || int(c) >= len(names) {
		return fmt.Sprintf("CODE_%d", int(c))
	}
	return names[c]
}

// Error is how a call has failed.
type Error struct {
	Code Code
	// Message is for people: what was wrong and what to do.
	Message string
	// Details has more for programs, by method; it may be nil.
	Details map[string]any
}

func (e *Error) Error() string { return e.Code.String() + ": " + e.Message }

// Is makes errors.Is find the context's errors in the statuses that mean the same.
func (e *Error) Is(target error) bool {
	return e.Code == Cancelled && target == context.Canceled ||
		e.Code == DeadlineExceeded && target == context.DeadlineExceeded
}

// CodeOf returns the status code of an error of this package; OK for nil, Unknown for any other error.
func CodeOf(err error) Code {
	var failure *Error
	switch {
	case err == nil:
		return OK
	case errors.As(err, &failure):
		return failure.Code
	default:
		return Unknown
	}
}

func failed(code Code, format string, values ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, values...)}
}

func violation(format string, values ...any) *Error {
	return failed(Internal, "the daemon's answer breaks the protocol: "+format, values...)
}

func lost(reason any) *Error {
	return failed(Unavailable, "the connection to the daemon was lost: %v", reason)
}

// fromContext returns the error for a context that is over.
func fromContext(ctx context.Context) *Error {
	if ctx.Err() == context.Canceled {
		return failed(Cancelled, "the call was cancelled")
	}
	// The socket's deadline may pass a moment before the context's own.
	return failed(DeadlineExceeded, "the daemon did not answer within the deadline")
}

// fromWire reads the object under an envelope's "error"; a code that is not gRPC's is Unknown.
func fromWire(text json.RawMessage) *Error {
	var wire struct {
		Code    json.RawMessage `json:"code"`
		Message json.RawMessage `json:"message"`
		Details json.RawMessage `json:"details"`
	}
	if json.Unmarshal(text, &wire) != nil {
		return failed(Unknown, "the daemon's error cannot be read")
	}
	found := &Error{Code: Unknown}
	var code int
	if json.Unmarshal(wire.Code, &code) == nil && code > 0 && code <= int(Unauthenticated) {
		found.Code = Code(code)
	}
	// A member of another type is as good as none.
	_ = json.Unmarshal(wire.Message, &found.Message)
	_ = json.Unmarshal(wire.Details, &found.Details)
	return found
}
