// SPDX-License-Identifier: MIT

package clusterd

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	prefixBytes        = 5
	maximumAnswerBytes = 64 << 20
)

// frame returns a frame with the parts, one after another, as its body.
func frame(parts ...[]byte) []byte {
	length := 0
	for _, part := range parts {
		length += len(part)
	}
	data := make([]byte, prefixBytes, prefixBytes+length)
	binary.BigEndian.PutUint32(data[1:], uint32(length))
	for _, part := range parts {
		data = append(data, part...)
	}
	return data
}

func opening(id int64, method string, params []byte, timeoutMs int64) []byte {
	if !strings.Contains(method, ".") {
		method = "clusterd.v1." + method
	}
	name, _ := json.Marshal(method)
	head := append([]byte(`{"id":`), strconv.FormatInt(id, 10)...)
	head = append(append(head, `,"method":`...), name...)
	if timeoutMs > 0 {
		head = append(append(head, `,"timeoutMs":`...), strconv.FormatInt(timeoutMs, 10)...)
	}
	return frame(append(head, `,"params":`...), params, []byte("}"))
}

func itemFrame(id int64, item []byte) []byte {
	return frame([]byte(`{"id":`+strconv.FormatInt(id, 10)+`,"item":`), item, []byte("}"))
}

func endFrame(id int64) []byte {
	return frame([]byte(`{"id":` + strconv.FormatInt(id, 10) + `,"end":true}`))
}

func cancelFrame(id int64) []byte {
	return frame([]byte(`{"id":` + strconv.FormatInt(id, 10) + `,"cancel":true}`))
}

// readFrame reads the body of the next frame, inflated. Its memory grows with what comes, not with what is announced.
func readFrame(reader *bufio.Reader) ([]byte, error) {
	flag, err := reader.ReadByte()
	if err != nil {
		return nil, err
	}
	if flag > 1 {
		return nil, violation("a frame's flag is %d", flag)
	}
	var prefix [4]byte
	if _, err := io.ReadFull(reader, prefix[:]); err != nil {
		return nil, err
	}
	length := int64(binary.BigEndian.Uint32(prefix[:]))
	if length > maximumAnswerBytes {
		return nil, violation("a frame of %d bytes", length)
	}
	var body bytes.Buffer
	if _, err := io.CopyN(&body, reader, length); err != nil {
		return nil, err
	}
	if flag == 0 {
		return body.Bytes(), nil
	}
	return inflate(body.Bytes())
}

func inflate(body []byte) ([]byte, error) {
	stream, err := zlib.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, violation("a compressed frame does not inflate: %v", err)
	}
	text, err := io.ReadAll(io.LimitReader(stream, maximumAnswerBytes+1))
	switch {
	case err != nil:
		return nil, violation("a compressed frame does not inflate: %v", err)
	case len(text) > maximumAnswerBytes:
		return nil, violation("a frame inflates to more than %d bytes", maximumAnswerBytes)
	}
	return text, nil
}

// kind is what a message of the daemon is.
type kind int

const (
	kindResult kind = iota
	kindItem
	kindEnd
	kindError
	// kindNotice is of no call: the daemon shuts down. It answers what it has taken, and closes.
	kindNotice
)

type message struct {
	// id is 0 in an error that belongs to no call, and in a notice.
	id   int64
	kind kind
	body json.RawMessage
}

// readMessage reads an envelope.
func readMessage(text []byte) (message, error) {
	var members map[string]json.RawMessage
	if !utf8.Valid(text) {
		return message{}, violation("a frame is not UTF-8")
	}
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return message{}, violation("a frame is not a JSON object")
	}
	var found message
	id, hasID := members["id"]
	isNull := !hasID || string(id) == "null"
	if !isNull && (json.Unmarshal(id, &found.id) != nil || found.id <= 0) {
		return message{}, violation("a message's id is %.40s", id)
	}
	for kind, name := range map[kind]string{kindResult: "result", kindItem: "item", kindEnd: "end", kindError: "error"} {
		body, has := members[name]
		if has && (kind == kindError || members["error"] == nil) {
			found.kind, found.body = kind, body
		}
	}
	if notice, has := members["goaway"]; has && isNull && found.body == nil {
		return message{kind: kindNotice, body: notice}, nil
	}
	if found.body == nil {
		return message{}, violation("a message that is no result, item, end or error")
	}
	if isNull && found.kind != kindError {
		return message{}, violation("a message has no id")
	}
	return found, nil
}
