package s3_test

import (
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/store/audio/s3"
)

func TestParseURL(t *testing.T) {
	for in, want := range map[string]s3.Location{
		"s3://bucket":           {Bucket: "bucket", Encryption: s3.BucketDefault},
		"s3://bucket/":          {Bucket: "bucket", Encryption: s3.BucketDefault},
		"s3://my.bucket-1/a/b/": {Bucket: "my.bucket-1", Prefix: "a/b", Encryption: s3.BucketDefault},
		"s3://bucket/p?endpoint=https://minio.local:9000/&region=eu-central-1&path-style=true&sse=kms&sse-kms-key=arn:aws:kms:eu/1": {
			Bucket: "bucket", Prefix: "p", Endpoint: "https://minio.local:9000", Region: "eu-central-1", PathStyle: "true",
			Encryption: s3.ManagedKey, KMSKey: "arn:aws:kms:eu/1",
		},
		"s3://bucket?endpoint=http%3A%2F%2F[::1]:9000&path-style=false&sse=s3": {
			Bucket: "bucket", Endpoint: "http://[::1]:9000", PathStyle: "false", Encryption: s3.ServerKey,
		},
		"s3://bucket?sse=c": {Bucket: "bucket", Encryption: s3.CustomerKey},
	} {
		got, err := s3.ParseURL(in)
		if err != nil || *got != want {
			t.Errorf("%s: got %+v and error %v, want %+v", in, got, err, want)
		}
	}
}

func TestParseURLNamesTheFault(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "scheme",
		"bucket/prefix":                   "scheme",
		"https://s3.amazonaws.com/bucket": "scheme",
		"s3:bucket":                       "names no bucket",
		"s3:///prefix":                    "names no bucket",
		"s3://bucket:9000/p":              "port",
		"s3://AKIA:hunter2@bucket/p":      "contains credentials",
		"s3://Bucket_Name":                "Bucket_Name",
		"s3://ab":                         "bucket",
		"s3://192.168.0.1":                "ip address",
		"s3://bucket/a//b":                "element",
		"s3://bucket/a/../b":              `".."`,
		"s3://bucket/a%00b":               "prefix",
		"s3://bucket/a b":                 "prefix",
		"s3://bucket/" + strings.Repeat("a", 901):     "901 bytes",
		"s3://bucket/p#hash":                          "fragment",
		"s3://bucket?endpont=https://h":               `unknown parameter "endpont", want one of endpoint, path-style`,
		"s3://bucket?region=a&region=b":               "region is given 2 times",
		"s3://bucket?region=":                         "region is empty",
		"s3://bucket?region=eu/1":                     "region",
		"s3://bucket?endpoint=localhost:9000":         "want https://host:port",
		"s3://bucket?endpoint=ftp://h":                "want https://host:port",
		"s3://bucket?endpoint=https://h/path":         "more than a host",
		"s3://bucket?endpoint=https://u:hunter2@h":    "endpoint contains credentials",
		"s3://bucket?path-style=yes":                  "want true or false",
		"s3://bucket?sse=aes":                         "want s3, kms or c",
		"s3://bucket?sse-kms-key=k":                   "without sse=kms",
		"s3://bucket?sse=c&endpoint=http://h":         "https://",
		"s3://bucket/%zz?secret=hunter2":              "escape",
		"s3://bucket?region=%zzhunter2":               "escape",
		"s3://AKIA:hunter2\x7f@bucket":                "parsed",
		"s3://bucket?endpoint=https://u:hunter2@%25z": "endpoint",
	} {
		got, err := s3.ParseURL(in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %+v and error %v, want an error with %q", in, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: error %q repeats a secret", in, err)
		}
	}
}

func TestOpenChecksTheKeyOfTheCustomer(t *testing.T) {
	for name, c := range map[string]struct {
		url  string
		key  int
		want string
	}{
		"missing":     {"s3://bucket?sse=c", 0, "0 bytes, want 32"},
		"short":       {"s3://bucket?sse=c", 16, "16 bytes, want 32"},
		"not wanted":  {"s3://bucket?sse=s3", 32, "without sse=c"},
		"as it is":    {"s3://bucket?sse=c", 32, ""},
		"none wanted": {"s3://bucket", 0, ""},
	} {
		l, err := s3.ParseURL(c.url)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s3.Open(l, &s3.Options{CustomerKey: make([]byte, c.key)})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
	}
	if _, err := s3.Open(&s3.Location{Bucket: "bucket", Prefix: "../x", Encryption: s3.BucketDefault}, nil); err == nil {
		t.Error("Open of a location that no URL has: got no error")
	}
	if _, err := s3.Open(&s3.Location{Bucket: "bucket"}, &s3.Options{Timeout: -1}); err == nil {
		t.Error("Open with a negative time-out: got no error")
	}
}

// FuzzParseURL checks that what ParseURL returns is written as a URL that it reads as the
// same, and that Open takes it.
func FuzzParseURL(f *testing.F) {
	for _, seed := range []string{
		"s3://bucket/a/b?endpoint=https://minio.local:9000&region=eu-central-1&path-style=true&sse=kms&sse-kms-key=a%26b",
		"s3://bucket?sse=c", "s3://b%61d/p", "s3://bucket/a%2f..%2fb", "s3://bucket?endpoint=http://[::1%25eth0]", "s3://bucket/#", "s3://u:p@bucket",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		l, err := s3.ParseURL(in)
		if err != nil {
			return
		}
		again, err := s3.ParseURL(l.String())
		if err != nil || *again != *l {
			t.Fatalf("%q: got %+v and then %+v and error %v from %q", in, l, again, err, l)
		}
		opts := &s3.Options{}
		if l.Encryption == s3.CustomerKey {
			opts.CustomerKey = make([]byte, 32)
		}
		if _, err := s3.Open(l, opts); err != nil {
			t.Fatalf("%q: %v", in, err)
		}
	})
}
