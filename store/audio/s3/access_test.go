package s3_test

import (
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/voicescreen/voicescreen/internal/proof/s3server"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/audio/s3"
)

// wantRefused makes all calls, and wants errors with a text that a retry does not heal.
func wantRefused(t *testing.T, name string, b *s3.Bucket, ref, want string) {
	t.Helper()
	_, putErr := b.Put(t.Context(), strings.NewReader("audio"))
	_, longErr := b.Put(t.Context(), bytes.NewReader(long))
	_, openErr := b.Open(t.Context(), ref)
	for call, err := range map[string]error{
		"Put": putErr, "Put in parts": longErr, "Open": openErr, "Remove": b.Remove(t.Context(), ref),
		"Sweep": b.Sweep(t.Context(), 0, nil), "Ping": b.Ping(t.Context()),
	} {
		switch {
		case err == nil, errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrFull):
			t.Errorf("%s: %s: got error %v, want another", name, call, err)
		case call != "Ping" && !strings.Contains(err.Error(), want): // Ping has no body
			t.Errorf("%s: %s: got error %v, want it to contain %q", name, call, err, want)
		case strings.Contains(err.Error(), s3server.SecretKey):
			t.Errorf("%s: %s: error %q contains the secret", name, call, err)
		}
	}
}

func TestWrongBucketAndCredentials(t *testing.T) {
	server := started(t)
	bucket := newBucket(t, server)
	good := open(t, bucket, server.Addr, nil)
	ref := put(t, good, []byte("audio"))
	wantRefused(t, "bucket", open(t, "no-such-bucket", server.Addr, nil), ref, "no-such-bucket")
	wantRefused(t, "region", open(t, bucket+"?region=eu-central-1", server.Addr, nil), ref, "us-east-1")

	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	wantRefused(t, "secret", open(t, bucket, server.Addr, nil), ref, "signature")
	t.Setenv("AWS_ACCESS_KEY_ID", "nobody")
	wantRefused(t, "access key", open(t, bucket, server.Addr, nil), ref, "ccess")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("HOME", t.TempDir())
	wantRefused(t, "none", open(t, bucket, server.Addr, nil), ref, "no credentials in the environment")
	wantAudio(t, good, ref, []byte("audio"))
}

// TestCredentialsOfTheUsualPlaces has them in the shared file, in that of another
// profile, and from the role of a container.
func TestCredentialsOfTheUsualPlaces(t *testing.T) {
	server := started(t)
	bucket := newBucket(t, server)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_EC2_METADATA_DISABLED"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	file := filepath.Join(t.TempDir(), "credentials")
	keys := "\naws_access_key_id = " + s3server.AccessKey + "\naws_secret_access_key = " + s3server.SecretKey + "\n"
	if err := os.WriteFile(file, []byte("[clinic]"+keys), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("shared file", func(t *testing.T) {
		t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
		t.Setenv("AWS_PROFILE", "clinic")
		b := open(t, bucket, server.Addr, nil)
		wantAudio(t, b, put(t, b, []byte("audio")), []byte("audio"))
	})
	t.Run("role", func(t *testing.T) {
		role := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"AccessKeyId":"`+s3server.AccessKey+`","SecretAccessKey":"`+s3server.SecretKey+`","Token":"","Expiration":"2099-01-01T00:00:00Z"}`)
		}))
		defer role.Close()
		t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", role.URL)
		b := open(t, bucket, server.Addr, nil)
		wantAudio(t, b, put(t, b, []byte("audio")), []byte("audio"))
	})
}

// TestPutRefusesABucketWithVersions makes old versions of objects stay.
func TestPutRefusesABucketWithVersions(t *testing.T) {
	server := started(t)
	bucket := newBucket(t, server)
	c := newClient(t, server.Addr)
	if err := c.EnableVersioning(t.Context(), bucket); err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{noise(1000), long} {
		_, err := open(t, bucket, server.Addr, nil).Put(t.Context(), bytes.NewReader(data))
		if err == nil || !strings.Contains(err.Error(), "versioning") {
			t.Errorf("%d bytes: got error %v, want that the bucket has versioning", len(data), err)
		}
	}
	if names := files(t, server, bucket); len(names) != 0 {
		t.Errorf("got %q, want nothing", names)
	}
}

// TestEncryptionIsAskedFor records the requests of each encryption. The server is the
// test's own: versitygw does not encrypt.
func TestEncryptionIsAskedFor(t *testing.T) {
	type request struct {
		kind   string
		header http.Header
	}
	var mu sync.Mutex // protects requests
	var requests []request
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		kind := "put"
		switch q := r.URL.Query(); {
		case q.Has("uploads"):
			kind = "begin"
			_, _ = io.WriteString(w, "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
		case q.Has("partNumber"):
			kind = "part"
			w.Header().Set("ETag", `"e"`)
		case q.Has("uploadId"):
			kind = "complete"
			_, _ = io.WriteString(w, "<CompleteMultipartUploadResult><Bucket>bucket</Bucket><Key>k</Key><ETag>e</ETag></CompleteMultipartUploadResult>")
		case r.Method == http.MethodGet:
			kind = "get"
			w.Header().Set("Last-Modified", "Mon, 02 Mar 2026 00:00:00 GMT")
		}
		mu.Lock()
		defer mu.Unlock()
		requests = append(requests, request{kind, r.Header})
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	const header, key, customer = "X-Amz-Server-Side-Encryption", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id", "X-Amz-Server-Side-Encryption-Customer-Key"
	b := open(t, "bucket", server.URL, nil)
	if _, err := b.Put(t.Context(), strings.NewReader("audio")); err == nil || errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("certificate of an unknown authority: got error %v", err)
	}
	t.Setenv("SSL_CERT_FILE", file)
	for url, want := range map[string]map[string][3]string{ // by kind of request: the three headers
		"bucket":        {"put": {}, "begin": {}, "part": {}, "complete": {}, "get": {}},
		"bucket?sse=s3": {"put": {"AES256"}, "begin": {"AES256"}, "part": {}, "complete": {}, "get": {}},
		"bucket?sse=kms&sse-kms-key=name": {
			"put": {"aws:kms", "name"}, "begin": {"aws:kms", "name"}, "part": {}, "complete": {}, "get": {},
		},
		"bucket?sse=c": {
			"put": {"", "", "S0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0s="}, "begin": {"", "", "S0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0s="},
			"part": {"", "", "S0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0s="}, "complete": {"", "", "S0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0s="},
			"get": {"", "", "S0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0s="},
		},
	} {
		opts := &s3.Options{}
		if strings.HasSuffix(url, "=c") {
			opts.CustomerKey = bytes.Repeat([]byte("K"), 32)
		}
		requests = nil
		b := open(t, url, server.URL, opts)
		ref := put(t, b, []byte("audio"))
		put(t, b, long)
		if _, err := read(t.Context(), b, ref); err != nil {
			t.Errorf("%s: %v", url, err)
		}
		kinds := map[string]bool{}
		for _, r := range requests {
			kinds[r.kind] = true
			if got := [3]string{r.header.Get(header), r.header.Get(key), r.header.Get(customer)}; got != want[r.kind] {
				t.Errorf("%s: %s: got headers %q, want %q", url, r.kind, got, want[r.kind])
			}
			if sum := r.header.Get("X-Amz-Content-Sha256"); (r.kind == "put" || r.kind == "part") && len(sum) != 64 {
				t.Errorf("%s: %s: got the checksum %q, want a SHA-256", url, r.kind, sum)
			}
		}
		if len(kinds) != len(want) {
			t.Errorf("%s: got requests %v, want %d kinds", url, kinds, len(want))
		}
	}
}
