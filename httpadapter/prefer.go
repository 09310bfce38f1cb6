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

// defaultMaxWait is shorter than the 60 s after which common proxies give a
// silent connection up. Chosen.
const defaultMaxWait = 30 * time.Second

// await holds the answer to the question for a result that is being worked on
// if the request prefers so: until the result is there, the time is over or
// the server ends. Whatever ends it is answered with what is known then.
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
	if ending, ok := ctx.Value(endingKey{}).(context.Context); ok {
		defer context.AfterFunc(ending, cancel)()
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
// section 4.3, in the values of Prefer headers; false if there is none that
// can be read, which is the same as none. Of several the first counts.
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

// endingKey is where the context of a request has another one that is done
// when its server begins to end.
type endingKey struct{}

// announceEnd tells requests of a server when it begins to end, so that those
// that only wait do not hold it up.
func announceEnd(s *http.Server) {
	ending, end := context.WithCancel(context.Background())
	s.BaseContext = func(net.Listener) context.Context {
		return context.WithValue(context.Background(), endingKey{}, ending)
	}
	s.RegisterOnShutdown(end)
}
