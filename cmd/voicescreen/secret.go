package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/store/bolt"
	"github.com/voicescreen/voicescreen/store/postgres"
)

// secretSize is the length of a key in bytes: that of AES-256, and of the sums
// of an HMAC-SHA-256, beyond which a key of it gains nothing.
const secretSize = 32

// readSecret reads a key of 64 hexadecimal digits from a file, or where none is
// named from an environment variable; nil if that is not set either. Errors
// hold nothing of it.
func readSecret(file, env string) ([]byte, error) {
	text, where := os.Getenv(env), env
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("key file %s: %w", file, command.Bare(err))
		}
		text, where = string(data), file
		if strings.TrimSpace(text) == "" {
			return nil, fmt.Errorf("%s: the key is missing", where)
		}
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != secretSize {
		return nil, fmt.Errorf("%s: want a key of 64 hexadecimal digits, such as \"openssl rand -hex 32\" makes", where)
	}
	return key, nil
}

// envStoreKey names the environment variable that may hold the database's key.
const envStoreKey = "VOICESCREEN_STORE_KEY"

// storeKeyFlag is the flag --store-key of the commands that open a database.
type storeKeyFlag struct{ file string } // "" for the environment

func (f *storeKeyFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "store-key", "", "a file with the key of the database, 64 hexadecimal digits (default: "+envStoreKey+", or no key)")
	command.SecretFile(cmd, "store-key", envStoreKey)
}

// read returns the key, nil if there is none.
func (f *storeKeyFlag) read() ([]byte, error) { return readSecret(f.file, envStoreKey) }

// keyHint adds to an error about a key that does not fit where the key is from, once.
func keyHint(err error) error { return keyFrom(err, "--store-key or "+envStoreKey) }

func keyFrom(err error, where string) error {
	var hinted *hintedError
	if !errors.Is(err, bolt.ErrKey) && !errors.Is(err, postgres.ErrKey) || errors.As(err, &hinted) {
		return err
	}
	return &hintedError{fmt.Errorf("%w; the key is from %s", err, where)}
}

// hintedError says where the key is from.
type hintedError struct{ error }

func (e *hintedError) Unwrap() error { return e.error }
