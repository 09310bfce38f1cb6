package httpadapter

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/screen"
)

// defaultMaxWait is the default of Options.MaxWait. Chosen: shorter than the 60 s
// after which common proxies close a silent connection.
const defaultMaxWait = 30 * time.Second

// await waits for the result of a session that is processing, if the request asks
// for it: until the session ends, the time is over or the server is shut down. It
// returns the latest known result.
func (a *adapter) await(c *call, r *voicescreen.Result) (*voicescreen.Result, error) {
	seconds, ok := preferredWait(c.r.Header.Values("Prefer"))
	if !ok || a.opts.MaxWait < time.Second { // the preference has whole seconds
		return r, nil
	}
	seconds = min(seconds, int(a.opts.MaxWait/time.Second))
	c.w.Header().Set("Preference-Applied", "wait="+strconv.Itoa(seconds))
	if r.Status != screen.StatusProcessing || seconds == 0 {
		return r, nil
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), time.Duration(seconds)*time.Second)
	defer cancel()
	if shutdown, ok := ctx.Value(shutdownKey{}).(context.Context); ok {
		defer context.AfterFunc(shutdown, cancel)()
	}
	final, err := c.account.Wait(ctx, r.SessionID)
	switch {
	case err == nil:
		return final, nil
	case ctx.Err() != nil, errors.Is(err, voicescreen.ErrClosed):
		return r, nil
	}
	return nil, err
}

// preferredWait returns the seconds of the preference "wait" of RFC 7240,
// section 4.3, in the values of Prefer headers. It returns false if there is no
// such preference or its value is malformed. The first of several counts.
func preferredWait(headers []string) (seconds int, ok bool) {
	for _, header := range headers {
		for preference := range strings.SplitSeq(header, ",") {
			preference, _, _ = strings.Cut(preference, ";") // parameters
			name, value, _ := strings.Cut(preference, "=")
			if !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			value = strings.Trim(strings.TrimSpace(value), `"`)
			n, err := strconv.ParseUint(value, 10, 31)
			if errors.Is(err, strconv.ErrRange) {
				return 1<<31 - 1, true
			}
			return int(n), err == nil
		}
	}
	return 0, false
}

// shutdownKey is the key, in the context of a request, of the context that is
// canceled when the shutdown of the server begins.
type shutdownKey struct{}

// signalShutdown makes s cancel the shutdownKey context of its requests when its
// shutdown begins, so that requests that wait for a result end.
func signalShutdown(s *http.Server) {
	shutdown, cancel := context.WithCancel(context.Background())
	s.BaseContext = func(net.Listener) context.Context {
		return context.WithValue(context.Background(), shutdownKey{}, shutdown)
	}
	s.RegisterOnShutdown(cancel)
}
