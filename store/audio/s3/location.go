package s3

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// Encryption is how the server encrypts objects.
type Encryption uint8

// The encryptions. BucketDefault leaves it to the settings of the bucket.
const (
	BucketDefault Encryption = iota + 1
	ServerKey                // SSE-S3: keys of the server
	ManagedKey               // SSE-KMS: keys of a key management service
	CustomerKey              // SSE-C: Options.CustomerKey, which the server does not keep
)

// encryptionNames are the values of the parameter sse.
var encryptionNames = map[Encryption]string{ServerKey: "s3", ManagedKey: "kms", CustomerKey: "c"}

// String returns the value of the parameter sse, and "default" for BucketDefault.
func (e Encryption) String() string {
	if name, ok := encryptionNames[e]; ok {
		return name
	}
	return "default"
}

// Location says where recordings are kept. It contains no secrets.
type Location struct {
	Bucket string
	// Prefix precedes the names of all objects, without slashes at its ends. It may be
	// empty.
	Prefix string
	// Endpoint is the URL of the server: scheme and host. Default: Amazon S3.
	Endpoint string
	// Region is the region of the bucket. Default: AWS_REGION or AWS_DEFAULT_REGION of
	// the environment; else us-east-1 with an Endpoint, and what Amazon says without.
	Region string
	// PathStyle is "true" if the bucket stands in the path of URLs, "false" if in the
	// name of the host. Default: "false" for Amazon, "true" for other servers.
	PathStyle string
	// Encryption is how the server encrypts. Default: BucketDefault.
	Encryption Encryption
	// KMSKey names the key of ManagedKey. Default: the service's default key.
	KMSKey string
}

// maxPrefix is the longest prefix in bytes. Chosen: an object's name has at most 1,024
// bytes, and what is added to the prefix 33.
const maxPrefix = 900

// parameters are the parameters of a URL.
var parameters = []string{"endpoint", "path-style", "region", "sse", "sse-kms-key"}

// ParseURL reads a location of the form
//
//	s3://bucket/prefix?endpoint=https://host:9000&region=eu-central-1&path-style=true&sse=kms&sse-kms-key=name
//
// All parameters are optional, and so is the prefix. The parameter sse is s3, kms or c. Secrets have no place in the URL, and
// no error repeats one that stands there.
func ParseURL(s string) (*Location, error) {
	l, err := parseURL(s)
	if err != nil {
		return nil, fmt.Errorf("store/audio/s3: URL of a bucket: %w", err)
	}
	return l, nil
}

func parseURL(s string) (*Location, error) {
	u, err := url.Parse(s)
	if err != nil {
		var fault *url.Error // its text repeats the URL
		if errors.As(err, &fault) {
			return nil, fmt.Errorf("it cannot be parsed: %w", withoutInput(fault.Err))
		}
		return nil, errors.New("it cannot be parsed")
	}
	switch {
	case u.Scheme != "s3":
		return nil, fmt.Errorf("its scheme is %q, want s3://bucket/prefix", u.Scheme)
	case u.User != nil:
		return nil, errors.New("it contains credentials; they belong in the environment or in the shared credentials file")
	case u.Opaque != "" || u.Host == "":
		return nil, errors.New("it names no bucket, want s3://bucket/prefix")
	case u.Port() != "" || strings.Contains(u.Host, ":"):
		return nil, errors.New("it has a port; the server is named by the parameter endpoint")
	case u.Fragment != "" || strings.HasSuffix(s, "#"):
		return nil, errors.New("it has a fragment; write # as %23")
	}
	l := &Location{Bucket: u.Host, Prefix: strings.Trim(u.Path, "/"), Encryption: BucketDefault}
	if err := s3utils.CheckValidBucketNameStrict(l.Bucket); err != nil {
		return nil, fmt.Errorf("bucket %q: %w", l.Bucket, err)
	}
	if err := checkPrefix(l.Prefix); err != nil {
		return nil, err
	}
	return l, l.setParameters(u.RawQuery)
}

// withoutInput returns an error of package url without the part of the URL that it
// quotes, which may be a secret.
func withoutInput(err error) error {
	text, _, _ := strings.Cut(err.Error(), `"`)
	return errors.New(strings.TrimSpace(text))
}

// checkPrefix refuses prefixes that servers or tools take for something else.
func checkPrefix(prefix string) error {
	if len(prefix) > maxPrefix {
		return fmt.Errorf("prefix has %d bytes, want at most %d", len(prefix), maxPrefix)
	}
	if prefix == "" {
		return nil
	}
	for _, name := range strings.Split(prefix, "/") {
		if name == "" || name == "." || name == ".." {
			return fmt.Errorf("prefix %q has an element %q", prefix, name)
		}
	}
	for i := range len(prefix) {
		if c := prefix[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`\"<>%{}^|~#?*`+"`", c) >= 0 {
			return fmt.Errorf("prefix %q contains %q, want letters, digits and -_./!'()@:,;=&$+", prefix, c)
		}
	}
	return nil
}

// setParameters reads the parameters of a URL.
func (l *Location) setParameters(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return fmt.Errorf("its parameters cannot be parsed: %w", withoutInput(err))
	}
	for name, list := range values {
		switch {
		case !slices.Contains(parameters, name):
			return fmt.Errorf("unknown parameter %q, want one of %s", name, strings.Join(parameters, ", "))
		case len(list) > 1:
			return fmt.Errorf("parameter %s is given %d times", name, len(list))
		case list[0] == "":
			return fmt.Errorf("parameter %s is empty", name)
		}
	}
	l.Endpoint, l.Region = values.Get("endpoint"), values.Get("region")
	l.PathStyle, l.KMSKey = values.Get("path-style"), values.Get("sse-kms-key")
	if l.Endpoint, err = checkEndpoint(l.Endpoint); err != nil {
		return err
	}
	if strings.Trim(l.Region, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		return fmt.Errorf("region %q, want letters, digits and hyphens", l.Region)
	}
	if l.PathStyle != "" && l.PathStyle != "true" && l.PathStyle != "false" {
		return fmt.Errorf("path-style is %q, want true or false", l.PathStyle)
	}
	if sse := values.Get("sse"); sse != "" {
		l.Encryption = 0
		for e, name := range encryptionNames {
			if name == sse {
				l.Encryption = e
			}
		}
		if l.Encryption == 0 {
			return fmt.Errorf("sse is %q, want s3, kms or c", sse)
		}
	}
	switch {
	case l.KMSKey != "" && l.Encryption != ManagedKey:
		return errors.New("sse-kms-key is given without sse=kms")
	case l.Encryption == CustomerKey && strings.HasPrefix(l.Endpoint, "http:"):
		return errors.New("sse=c sends the key to the server; endpoint must begin with https://")
	}
	return nil
}

// checkEndpoint returns the URL of a server in its shortest form.
func checkEndpoint(endpoint string) (string, error) {
	if endpoint == "" {
		return "", nil
	}
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", errors.New("endpoint is no URL of a server, want https://host:port")
	case u.User != nil:
		return "", errors.New("endpoint contains credentials; they belong in the environment or in the shared credentials file")
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(endpoint, "#"):
		return "", errors.New("endpoint has more than a host and a port, want https://host:port")
	case strings.Trim(u.Host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:[]") != "":
		return "", errors.New("endpoint has an invalid name of a host")
	}
	return u.Scheme + "://" + u.Host, nil
}

// String returns the URL that ParseURL reads.
func (l *Location) String() string {
	u := url.URL{Scheme: "s3", Host: l.Bucket, Path: l.Prefix}
	if l.Prefix != "" {
		u.Path = "/" + l.Prefix
	}
	values := url.Values{}
	for name, value := range map[string]string{
		"endpoint": l.Endpoint, "region": l.Region, "path-style": l.PathStyle, "sse": encryptionNames[l.Encryption], "sse-kms-key": l.KMSKey,
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	u.RawQuery = values.Encode()
	return u.String()
}
