package console

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// The defaults of UploadOptions are those of httpadapter.Limits.
const (
	defaultStallTime  = 30 * time.Second
	defaultUploadTime = 10 * time.Minute
	defaultUploads    = 800
)

// UploadOptions say which recordings the console accepts, and how. Zero fields mean the
// default, which is that of package httpadapter.
type UploadOptions struct {
	// MaxBytes is the size of the largest recording. The engine has its own limit too.
	// Default: 100 MiB.
	MaxBytes int64

	// AnyFormat accepts what voicescreen.SubmitOptions.AnyFormat accepts. Default: WAV.
	AnyFormat bool

	// StallTime is the maximum pause between two reads of an upload, and Time the maximum
	// time of the whole upload: see httpadapter.Limits. StallTime also holds for forms,
	// which are received within 10 s.
	StallTime, Time time.Duration

	// PerCaller is the maximum number of uploads of one caller at the same time. Another
	// one is refused before it is read.
	PerCaller int
}

// withDefaults returns o without zero fields.
func (o UploadOptions) withDefaults() UploadOptions {
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxUpload
	}
	if o.StallTime <= 0 {
		o.StallTime = defaultStallTime
	}
	if o.Time <= 0 {
		o.Time = defaultUploadTime
	}
	if o.PerCaller <= 0 {
		o.PerCaller = defaultUploads
	}
	return o
}

// uploads counts the uploads of each caller that are under way. It is safe for concurrent
// use.
type uploads struct {
	mu sync.Mutex // protects of
	of map[string]int
}

// enter counts an upload of a caller, until leave is called. It returns false above most.
func (u *uploads) enter(caller string, most int) (leave func(), ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.of[caller] >= most {
		return nil, false
	}
	if u.of == nil {
		u.of = map[string]int{}
	}
	u.of[caller]++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.of[caller]--; u.of[caller] == 0 {
			delete(u.of, caller)
		}
	}, true
}

// A timedBody is the body of a request, each of whose reads has a deadline. A connection
// without deadlines, as in a test, has none.
type timedBody struct {
	io.ReadCloser
	answer *http.ResponseController
	stall  time.Duration
	end    time.Time
}

// timed gives the body of the request a maximum pause between two reads, and a maximum
// time of the whole.
func (v *visit) timed(stall, total time.Duration) {
	v.coming = &timedBody{v.r.Body, http.NewResponseController(v.w), stall, time.Now().Add(total)}
	v.r.Body = v.coming
}

// Read reads with a deadline.
func (b *timedBody) Read(p []byte) (int, error) {
	deadline := time.Now().Add(b.stall)
	if b.end.Before(deadline) {
		deadline = b.end
	}
	_ = b.answer.SetReadDeadline(deadline) // an error means that there are none
	return b.ReadCloser.Read(p)
}

const (
	// drainTime and drainBytes bound how much of a refused request is read. As in
	// httpadapter.
	drainTime  = 5 * time.Second
	drainBytes = 4 * defaultMaxUpload
)

// drain reads and discards the rest of the body of a request that is refused: a browser
// shows the answer only after it has sent the request.
func (v *visit) drain() {
	if v.r.Body == nil || v.r.Body == http.NoBody {
		return
	}
	if v.coming == nil {
		v.timed(drainTime, drainTime)
	}
	v.coming.end = time.Now().Add(drainTime)
	io.CopyN(io.Discard, v.coming, drainBytes)
}
