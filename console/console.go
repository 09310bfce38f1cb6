package console

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/audit"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/httpadapter/webhook"
)

// Options configures the console. Nil and zero fields mean the default.
type Options struct {
	// Prefix is the path under which browsers reach the console, without a slash at its
	// end. The handler expects it in each request. Default: "/console".
	Prefix string

	// SignIn is the address of the host program's own sign-in page, on this origin: the
	// content security policy sends forms nowhere else. If it is set, the Authenticator
	// of New is asked about each request as it is, a cookie of the host's for example,
	// and who is not authenticated is sent there. Default: the console has a sign-in
	// page, on which an API key is exchanged for a cookie.
	SignIn string

	// Words replaces texts and adds languages: each file such as "de.json" at its root
	// is a JSON object of texts by the names in words/en.json of this package. A text
	// that a language lacks is the English one. The prompt to talk about, the words of
	// the consent and the practice's procedure are texts. Default: English and German.
	Words fs.FS

	// Audit, if not nil, receives a record of every act: before its answer is sent.
	// The actions are those of package httpadapter. Default: no audit log.
	Audit *audit.Log

	// Logger receives one line for each request but those of static files, and internal
	// errors. No line holds data of a patient. Default: no log.
	Logger *slog.Logger

	Upload     UploadOptions
	Operations OperationsOptions

	// Now is the clock of sign-ins. Default: time.Now.
	Now func() time.Time

	// Context, once done, ends what runs in the background of pages: summaries of the
	// sessions and trials of learning, which take up to half an hour. Engine.Close waits
	// for these: the host should end Context before. Default: it never ends.
	Context context.Context
}

// OperationsOptions say what the page of operations shows. Zero fields mean the default.
type OperationsOptions struct {
	// Accounts are those whose holders of the scope admin see the service as a whole:
	// the queue, the workers, the errors of the store. Others see their own account
	// only. Default: none.
	Accounts []string

	// Workers is how many recordings this process analyses at once; it is shown.
	Workers int

	// Webhooks are shown with the state of their deliveries. Default: none.
	Webhooks *webhook.Endpoints
}

const (
	defaultPrefix = "/console"

	// defaultMaxUpload is that of httpadapter.Options.MaxUpload.
	defaultMaxUpload = 100 << 20
)

// console is the handler. It is safe for concurrent use.
type console struct {
	engine     *voicescreen.Engine
	callers    httpadapter.Authenticator
	keys       *httpadapter.Keys // nil where callers is something else
	opts       Options           // without zero fields
	dictionary *dictionary
	browsers   *browsers
	attempts   *attempts
	uploads    uploads
	summaries  *summaries
	trials     *trials
	mux        *http.ServeMux
}

// New returns a handler that shows the engine to the callers that callers knows: to the
// holders of keys, if it is a [httpadapter.Keys]. Each sees the account that the key was
// created for. The error is that of Options.Words or of an invalid Prefix.
func New(e *voicescreen.Engine, callers httpadapter.Authenticator, opts *Options) (http.Handler, error) {
	c := &console{engine: e, callers: callers}
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.Prefix == "" {
		c.opts.Prefix = defaultPrefix
	}
	if c.opts.Logger == nil {
		c.opts.Logger = slog.New(slog.DiscardHandler)
	}
	c.opts.Upload = c.opts.Upload.withDefaults()
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	if c.opts.Context == nil {
		c.opts.Context = context.Background()
	}
	if err := checkPrefix(c.opts.Prefix); err != nil {
		return nil, err
	}
	var err error
	if c.dictionary, err = newDictionary(c.opts.Words); err != nil {
		return nil, err
	}
	c.keys, _ = callers.(*httpadapter.Keys)
	c.browsers = newBrowsers(c.opts.Now)
	c.attempts = newAttempts(c.opts.Now)
	c.summaries = newSummaries(c.opts.Context, c.opts.Now, c.opts.Logger)
	c.trials = newTrials(c.opts.Context, c.opts.Now, c.opts.Logger)
	c.mux = c.newMux()
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(c.deny))
	return c.outside(protection.Handler(c.mux)), nil
}

// outside sets the header fields of every answer and survives a panic.
func (c *console) outside(inside http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeader(w.Header())
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				c.opts.Logger.Error("panic", "stack", string(debug.Stack())) // not p, which may quote data of a patient
				http.Error(w, "internal server error", http.StatusInternalServerError)
			}
		}()
		inside.ServeHTTP(w, r)
	})
}

// url returns the address of a path of the console, from the root of the host.
func (c *console) url(path string) string { return c.opts.Prefix + "/" + strings.TrimPrefix(path, "/") }
