// Command manifests checks deploy/kubernetes against the types of the Kubernetes API, and
// what the objects name of one another, and deploy/compose.yaml against the specification
// of Compose. It runs in the root of the repository; see .ci/deploy.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

func main() {
	if err := errors.Join(compose("deploy/compose.yaml"), kubernetes("deploy/kubernetes")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// compose loads a file as Docker Compose does, with a value for each variable without a
// default.
func compose(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	project, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir:  filepath.Dir(path),
		ConfigFiles: []types.ConfigFile{{Filename: path, Content: data}},
		Environment: types.Mapping{"POSTGRES_PASSWORD": "a", "S3_SECRET": "b", "STORE_KEY_FILE": "./store.key"},
	}, func(o *loader.Options) { o.Profiles = []string{"*"} })
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for name, s := range project.Services {
		for _, v := range s.Volumes {
			if _, err := os.Stat(v.Source); v.Type == types.VolumeTypeBind && err != nil {
				return fmt.Errorf("%s: service %s: %w", path, name, err)
			}
		}
	}
	fmt.Printf("%s: %d services\n", path, len(project.Services))
	return nil
}
