// SPDX-License-Identifier: MIT

package clusterd

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
)

const systemSocket = "/run/clusterd/clusterd.sock"

// candidates returns the sockets to try, in order. A path that the user names is the only one.
func candidates(path string, environment func(string) string) []string {
	if path == "" {
		path = environment("CLUSTERD_SOCKET")
	}
	if path != "" {
		return []string{path}
	}
	if session := environment("XDG_RUNTIME_DIR"); session != "" {
		return []string{session + "/clusterd.sock", systemSocket}
	}
	return []string{systemSocket}
}

// dial connects to the first socket that answers.
func dial(ctx context.Context, path string) (net.Conn, error) {
	var dialer net.Dialer
	var tried []string
	denied := ""
	for _, candidate := range candidates(path, os.Getenv) {
		connection, err := dialer.DialContext(ctx, "unix", candidate)
		if err == nil {
			return connection, nil
		}
		if ctx.Err() != nil {
			return nil, fromContext(ctx)
		}
		if errors.Is(err, fs.ErrPermission) {
			denied = candidate
		}
		reason := err
		var operation *net.OpError
		if errors.As(err, &operation) {
			reason = operation.Err
		}
		tried = append(tried, candidate+" ("+reason.Error()+")")
	}
	if denied != "" {
		return nil, failed(PermissionDenied, "permission to open the socket %s is denied; its mode and its group decide who may open it", denied)
	}
	return nil, failed(Unavailable, "no daemon answers at %s: start clusterd, or name its socket by WithSocket or "+
		"$CLUSTERD_SOCKET", strings.Join(tried, ", "))
}
