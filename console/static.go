package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"sync"
)

// staticFiles are the styles and scripts.
//
//go:embed static
var staticFiles embed.FS

// A staticFile is one of them.
type staticFile struct {
	kind, tag string
	content   []byte
}

// statics returns the files, by name, read at the first call.
var statics = sync.OnceValue(func() map[string]staticFile {
	all := map[string]staticFile{}
	files, err := staticFiles.ReadDir("static")
	if err != nil {
		panic(err) // embedded
	}
	for _, f := range files {
		content, err := staticFiles.ReadFile("static/" + f.Name())
		if err != nil {
			panic(err) // embedded
		}
		kind := mime.TypeByExtension(path.Ext(f.Name()))
		if path.Ext(f.Name()) == ".js" {
			kind = "text/javascript; charset=utf-8" // whatever the system's table says
		}
		sum := sha256.Sum256(content)
		all[f.Name()] = staticFile{kind: kind, tag: `"` + hex.EncodeToString(sum[:8]) + `"`, content: content}
	}
	return all
})

// serveStatic answers with a file. It is the same for everybody: a browser may keep it,
// and asks whether it changed.
func serveStatic(w http.ResponseWriter, r *http.Request) {
	f, ok := statics()[r.PathValue("name")]
	if !ok {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Etag", f.tag)
	w.Header().Set("Content-Type", f.kind)
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Write(f.content) // an error means that the client has disconnected
}
