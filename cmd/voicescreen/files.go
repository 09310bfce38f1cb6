package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen/internal/command"
)

// foldersHelp describes folders in the help of the commands that read recordings.
const foldersHelp = `FILE is WAV, FLAC, MP3, or Opus in Ogg or WebM, whatever its name is. FILE may be a
folder: all files in it and below whose names end like those formats are read, in the
order of their names. Hidden files and folders, whose names begin with a dot, are left out. A link
to a file is read, a link to a folder is not followed. Recordings in other formats,
such as AAC, are counted in a warning. All processors are used. The files that failed are listed
at the end, and the exit code is then 1.`

// source is a recording to read.
type source struct {
	path string // "-" is standard input
	err  error  // of the search in a folder: there is nothing to read
}

// findSources returns the recordings that the arguments of a command name: files as
// they are, folders with the recordings in them and below. It warns of recordings
// that it leaves out. The error is one in the command line.
func findSources(cmd *cobra.Command, args []string) ([]source, error) {
	if n := len(slices.DeleteFunc(slices.Clone(args), func(path string) bool { return path != "-" })); n > 1 {
		return nil, command.Usagef("there is one standard input, want \"-\" once")
	}
	var all []source
	for _, path := range args {
		if !isFolder(path) {
			all = append(all, source{path: path})
			continue
		}
		f := folder{others: map[string]int{}}
		f.walk(path)
		f.warn(cmd, path)
		if len(f.found) == 0 {
			f.found = []source{{path, errors.New("the folder has no recording")}}
		}
		all = append(all, f.found...)
	}
	return all, nil
}

// isFolder reports whether an argument is a folder or a link to one.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && path != "-"
}

// folder is what a folder of the command line holds.
type folder struct {
	found  []source
	links  []string       // to folders, which are not followed
	others map[string]int // recordings in other formats, by the endings of their names
}

// readFormats are the endings of the names of recordings that are read in a folder, and
// otherFormats those of recordings that are left out. A file that is named in the command
// line is read whatever its name is.
var (
	readFormats  = []string{".wav", ".wave", ".flac", ".mka", ".mp3", ".oga", ".ogg", ".opus", ".webm"}
	otherFormats = []string{".3gp", ".aac", ".aif", ".aiff", ".amr", ".caf", ".m4a", ".mov", ".mp4", ".wma"}
)

// recordingEndings are readFormats without the dots, for completion.
func recordingEndings() []string {
	var all []string
	for _, ending := range readFormats {
		all = append(all, strings.TrimPrefix(ending, "."))
	}
	return all
}

// walk adds what is in a folder and below, in the order of the names.
func (f *folder) walk(dir string) {
	entries, err := os.ReadDir(dir) // sorted, also beside an error
	for _, e := range entries {
		path, ending := filepath.Join(dir, e.Name()), strings.ToLower(filepath.Ext(e.Name()))
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			f.walk(path)
		case e.Type()&fs.ModeSymlink != 0 && isFolder(path):
			f.links = append(f.links, path)
		case slices.Contains(readFormats, ending):
			f.found = append(f.found, source{path, readable(path)})
		case slices.Contains(otherFormats, ending):
			f.others[ending]++
		}
	}
	if err != nil {
		f.found = append(f.found, source{dir, command.Bare(err)})
	}
}

// readable returns an error for what would not end when it is read, such as a pipe.
func readable(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return errors.New("is not a file")
	}
	if err != nil {
		return command.Bare(err)
	}
	return nil
}

// warn says what was left out.
func (f *folder) warn(cmd *cobra.Command, dir string) {
	for _, path := range f.links {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: %s: a link to a folder, which is not followed; name it to read it\n", cmd.Root().Name(), command.Printable(path))
	}
	n, endings := 0, []string{}
	for _, ending := range otherFormats {
		if f.others[ending] > 0 {
			n += f.others[ending]
			endings = append(endings, ending)
		}
	}
	if n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: %s: left out as of a format that is not read: %s (%s); convert with \"ffmpeg -i in%s -ac 1 -ar 44100 out.wav\"\n",
			cmd.Root().Name(), command.Printable(dir), command.Count(n, "recording"), strings.Join(endings, ", "), endings[0])
	}
}

// measured is what became of one file: what to print, or an error.
type measured struct {
	out      []byte
	warnings []string
	err      error
}

// printEach does the work on every file and prints the results in order. The files
// that fail are listed at the end, and the others printed all the same.
func printEach(cmd *cobra.Command, files []source, what string, newWork func() func(i int) measured) error {
	bar := command.NewProgress(cmd.ErrOrStderr(), len(files), what)
	defer bar.Finish()
	var failed []source
	err := command.InOrder(cmd.Context(), len(files), newWork, func(i int, m measured) error {
		if len(m.warnings)+len(m.out) > 0 {
			bar.Hide()
		}
		for _, w := range m.warnings {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: %s: %s\n", cmd.Root().Name(), command.Printable(files[i].path), w)
		}
		if m.err != nil {
			failed = append(failed, source{files[i].path, m.err})
		}
		_, err := cmd.OutOrStdout().Write(m.out)
		bar.Step()
		return err
	})
	bar.Finish()
	listFailed(cmd.ErrOrStderr(), cmd.Root().Name(), failed, len(files))
	if err == nil && len(failed) > 0 {
		return command.ErrReported
	}
	return err
}

// listFailed says which of several files failed and why.
func listFailed(w io.Writer, program string, failed []source, of int) {
	if len(failed) > 0 && of > 1 {
		fmt.Fprintf(w, "%s: failed: %d of %s\n", program, len(failed), command.Count(of, "file"))
	}
	for _, f := range failed {
		fmt.Fprintf(w, "%s: %s: %s\n", program, command.Printable(f.path), command.Plain(f.err))
	}
}
