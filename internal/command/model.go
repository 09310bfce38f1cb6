package command

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/models"
	"github.com/voicescreen/voicescreen/models/dam"
	"github.com/voicescreen/voicescreen/models/ssl"
	"github.com/voicescreen/voicescreen/screen"
)

// LoadModel loads a model file or directory of any kind, which its contents determine.
// Only DAM uses the base rates here; the engine sets those of other models.
func LoadModel(path string, rates map[screen.Category]float64) (models.Scorer, error) {
	if is, err := ssl.Is(path); err != nil {
		return nil, fmt.Errorf("model %s: %w", path, Bare(err))
	} else if is {
		return ssl.Open(path, nil)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", path, Bare(err))
	}
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	f.Close()
	if err == nil && dam.Is(head[:n]) {
		return dam.Open(path, damOptions(rates))
	}
	return models.LoadFile(path) // its error names the fault of a file of unknown kind
}

func damOptions(rates map[screen.Category]float64) *dam.ScorerOptions {
	return &dam.ScorerOptions{Depression: rates[screen.Depression], Anxiety: rates[screen.Anxiety]}
}

// Origin says in words where the weights of a model are from that does not come with the
// module, and their licence; "" of other models.
func Origin(i models.Info) string {
	if i.SHA256 == "" {
		return ""
	}
	known := func(text string) string {
		if text == "" {
			return "not known"
		}
		return text
	}
	return fmt.Sprintf("model %s %s: licence %s, source %s, sha256 %s", i.Name, i.Version, known(i.Licence), known(i.Source), i.SHA256)
}

// LicenceWarning is a warning about the licence of a model, or "".
func LicenceWarning(i models.Info) string {
	if !i.NonCommercial {
		return ""
	}
	return fmt.Sprintf("model %s %s: its licence, %s, is non-commercial: it does not allow commercial use", i.Name, i.Version, i.Licence)
}

// PrintOrigins prints Origin and LicenceWarning of each model.
func PrintOrigins(cmd *cobra.Command, scorers ...models.Scorer) {
	for _, s := range scorers {
		if text := Origin(s.Info()); text != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", cmd.Root().Name(), text)
		}
		if text := LicenceWarning(s.Info()); text != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: %s\n", cmd.Root().Name(), text)
		}
	}
}
