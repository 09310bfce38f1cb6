package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/voicescreen/voicescreen/httpadapter"
)

// listeners are the sockets of "serve".
type listeners struct {
	calls   net.Listener
	metrics net.Listener // nil for none
}

// listen takes the addresses of calls and of metrics, "" for none. It comes before
// the database is opened or made, so that an address in use leaves nothing behind.
// Clients that connect meanwhile wait.
func listen(ctx context.Context, calls, metrics string) (on *listeners, err error) {
	on = &listeners{}
	if on.calls, err = listenTo(ctx, "--addr", calls); err != nil {
		return nil, err
	}
	if on.metrics, err = listenTo(ctx, "--metrics-addr", metrics); err != nil {
		return nil, errors.Join(err, on.calls.Close())
	}
	return on, nil
}

// listenTo takes an address, which a flag gave; nil for "".
func listenTo(ctx context.Context, flag, address string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return l, nil
}

// Close gives the addresses up. A server that uses one may have closed it already.
func (on *listeners) Close() {
	_ = on.calls.Close()
	if on.metrics != nil {
		_ = on.metrics.Close()
	}
}

// serveMetrics serves /metrics on a listener until stop is called. Its address is
// printed.
func serveMetrics(l net.Listener, m *httpadapter.Metrics, stdout io.Writer) (stop func() error) {
	fmt.Fprintf(stdout, "metrics on http://%s/metrics\n", l.Addr())
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m)
	server := httpadapter.NewServer(l.Addr().String(), mux)
	go server.Serve(l) // ends with Close
	return server.Close
}
