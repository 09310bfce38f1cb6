package s3

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// roleTimeout bounds a request for the credentials of the machine's role. Chosen: it is a
// server of the same machine or cluster; where there is none, packets may get no answer.
const roleTimeout = 5 * time.Second

// provider looks for credentials in the usual places: the environment
// (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, or MINIO_ROOT_USER,
// MINIO_ROOT_PASSWORD), the shared files (~/.aws/credentials and ~/.aws/config, or
// AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE and AWS_PROFILE), and the role of the
// machine, container or service account. Credentials.New makes it safe for concurrent
// use. The chain of minio-go goes on without credentials if it finds none, and drops the
// errors of its places.
type provider struct {
	places []place
	found  credentials.Provider // nil until credentials were found
}

type place struct {
	name string
	credentials.Provider
}

func newCredentials() *credentials.Credentials {
	places := []place{
		{"environment", &credentials.EnvAWS{}},
		{"environment", &credentials.EnvMinio{}},
		{"shared file", &credentials.FileAWSCredentials{}},
	}
	if !strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") || os.Getenv("AWS_ROLE_ARN") != "" {
		places = append(places, place{"role", &credentials.IAM{Client: &http.Client{Timeout: roleTimeout}}})
	}
	return credentials.New(&provider{places: places})
}

// Retrieve returns the first credentials that it finds.
func (p *provider) Retrieve() (credentials.Value, error) { return p.RetrieveWithCredContext(nil) }

// RetrieveWithCredContext is Retrieve with the context of a client.
func (p *provider) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	var faults []error
	for _, place := range p.places {
		value, err := place.RetrieveWithCredContext(cc)
		if err == nil && value.AccessKeyID != "" && value.SecretAccessKey != "" {
			p.found = place.Provider
			return value, nil
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", place.name, err))
		}
	}
	return credentials.Value{}, &credentialsError{errors.Join(faults...)}
}

// IsExpired reports whether Retrieve must be called.
func (p *provider) IsExpired() bool { return p.found == nil || p.found.IsExpired() }

// credentialsError says that no credentials were found.
type credentialsError struct{ faults error }

func (e *credentialsError) Error() string {
	text := "no credentials in the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), in the shared credentials file, or from a role of this machine"
	if e.faults != nil {
		text += ": " + strings.ReplaceAll(e.faults.Error(), "\n", "; ")
	}
	return text
}

func (e *credentialsError) Unwrap() error { return e.faults }
