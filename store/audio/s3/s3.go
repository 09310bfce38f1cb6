package s3

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/encrypt"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio"
)

const (
	// suffix is the end of the name of an object with a recording.
	suffix = ".audio"
	// attempts is how often a request is sent that the server may take later. Chosen:
	// with the pauses of minio-go it takes less than 3 s until a server that refuses
	// connections is reported.
	attempts = 4
	// defaultTimeout: chosen, a part of 5 MiB arrives at 1.4 Mbit/s.
	defaultTimeout = 30 * time.Second
	// amazon is the endpoint of Amazon S3.
	amazon = "https://s3.amazonaws.com"
)

// Options are the options of Open. Nil and zero fields mean the default.
type Options struct {
	// CustomerKey is the key of Location.Encryption CustomerKey: 32 bytes. The server
	// needs it for each request and does not keep it. Default: none.
	CustomerKey []byte
	// Timeout bounds one attempt of a request, from its beginning until its answer
	// begins, and each pause of an answer. A request is attempted at most 4 times.
	// Default: 30 s.
	Timeout time.Duration
}

// Bucket keeps audio in a bucket, under a prefix. It is safe for concurrent use, and
// several processes may use one bucket and prefix.
type Bucket struct {
	client *minio.Core
	bucket string
	prefix string // empty, or ends in a slash
	sse    encrypt.ServerSide
	read   encrypt.ServerSide // nil unless the server needs a key to read
}

var _ store.Audio = (*Bucket)(nil)

// Open returns the audio of a location. It sends no request: see Ping. Credentials are
// looked for in the environment, the shared credentials file and the role of the
// machine, when they are needed. A Bucket need not be closed.
func Open(l *Location, opts *Options) (*Bucket, error) {
	if opts == nil {
		opts = &Options{}
	}
	b, err := open(l, opts)
	if err != nil {
		return nil, fmt.Errorf("store/audio/s3: open: %w", err)
	}
	return b, nil
}

func open(l *Location, opts *Options) (*Bucket, error) {
	l, err := parseURL(l.String()) // a Location may be written by hand
	if err != nil {
		return nil, err
	}
	endpoint := l.Endpoint
	if endpoint == "" {
		endpoint = amazon
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	timeout := opts.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	if timeout < 0 {
		return nil, fmt.Errorf("time-out is %v, want more than 0", timeout)
	}
	b := &Bucket{bucket: l.Bucket, prefix: l.Prefix}
	if b.prefix != "" {
		b.prefix += "/"
	}
	if err := b.setEncryption(l, opts.CustomerKey); err != nil {
		return nil, err
	}
	secure := u.Scheme == "https"
	t, err := newTransport(secure, timeout)
	if err != nil {
		return nil, err
	}
	lookup := minio.BucketLookupAuto
	switch l.PathStyle {
	case "true":
		lookup = minio.BucketLookupPath
	case "false":
		lookup = minio.BucketLookupDNS
	}
	b.client, err = minio.NewCore(u.Host, &minio.Options{
		Creds: newCredentials(), Secure: secure, Transport: t, Region: region(l), BucketLookup: lookup, MaxRetries: attempts,
	})
	return b, err
}

// region returns the region of a location, or "" if Amazon is to be asked.
func region(l *Location) string {
	for _, name := range []string{l.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")} {
		if name != "" {
			return name
		}
	}
	if l.Endpoint != "" {
		return "us-east-1" // what servers take that have no regions
	}
	return ""
}

// setEncryption sets how the server encrypts.
func (b *Bucket) setEncryption(l *Location, key []byte) (err error) {
	if len(key) > 0 && l.Encryption != CustomerKey {
		return errors.New("a key of the customer is given without sse=c")
	}
	switch l.Encryption {
	case ServerKey:
		b.sse = encrypt.NewSSE()
	case ManagedKey:
		b.sse, err = encrypt.NewSSEKMS(l.KMSKey, nil)
	case CustomerKey:
		if len(key) != 32 {
			return fmt.Errorf("key of the customer has %d bytes, want 32", len(key))
		}
		b.sse, err = encrypt.NewSSEC(key)
		b.read = b.sse
	}
	return err
}

// Ping returns nil if the server answers, takes the credentials and has the bucket.
func (b *Bucket) Ping(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	found, err := b.client.BucketExists(ctx, b.bucket)
	if err == nil && !found {
		err = errors.New("the bucket does not exist")
	}
	return b.failed(ctx, "ping", err)
}

// name returns the name of the object of a reference.
func (b *Bucket) name(ref string) string { return b.prefix + ref + suffix }

// Remove is described at [store.Audio].
func (b *Bucket) Remove(ctx context.Context, ref string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !audio.IsRef(ref) {
		return nil
	}
	err := b.client.RemoveObject(ctx, b.bucket, b.name(ref), minio.RemoveObjectOptions{})
	if isCode(err, minio.NoSuchKey) {
		err = nil
	}
	return b.failed(ctx, "remove", err)
}
