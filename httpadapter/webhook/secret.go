package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	// secretPrefix marks a symmetric secret.
	secretPrefix = "whsec_"

	// The specification asks for secrets of 24 to 64 bytes.
	minSecret = 24
	maxSecret = 64

	// newSecretBytes is the length of new secrets: that of the hash.
	newSecretBytes = sha256.Size
)

// secret is the key of the signatures of an endpoint. Its String hides it.
type secret []byte

var errSecret = fmt.Errorf("want %s and the base64 of %d to %d bytes", secretPrefix, minSecret, maxSecret)

func newSecret() secret {
	s := make(secret, newSecretBytes)
	rand.Read(s) // never fails
	return s
}

// parseSecret reads whsec_ and base64.
func parseSecret(text string) (secret, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	if !ok {
		return nil, errSecret
	}
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(b) < minSecret || len(b) > maxSecret {
		return nil, errSecret
	}
	return b, nil
}

// text returns the secret in the form for receivers.
func (s secret) text() string { return secretPrefix + base64.StdEncoding.EncodeToString(s) }

// String returns the prefix only, so that no log holds a secret.
func (s secret) String() string { return secretPrefix + "…" }

// GoString is String.
func (s secret) GoString() string { return s.String() }

// MarshalText returns the secret itself, for the file.
func (s secret) MarshalText() ([]byte, error) { return []byte(s.text()), nil }

// UnmarshalText is the inverse of MarshalText.
func (s *secret) UnmarshalText(b []byte) (err error) {
	*s, err = parseSecret(string(b))
	return err
}

// sign returns the signature of a message: one element of webhook-signature.
func (s secret) sign(id string, at time.Time, body []byte) string {
	h := hmac.New(sha256.New, s)
	h.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
	h.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
}
