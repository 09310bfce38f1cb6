package httpadapter

import (
	"net/http"
	"time"

	"github.com/voicescreen/voicescreen/screen"
)

// Route is a call of the handler, for tests outside the package.
type Route struct {
	Method, Path string
	Scope        Scope
	Product      screen.Product
}

// AnyScope is the Scope of a route whose handler checks the scope.
const AnyScope = anyScope

// Routes lists all calls.
var Routes = func() []Route {
	list := make([]Route, len(routes))
	for i, r := range routes {
		list[i] = Route{r.method, r.path, r.scope, r.product}
	}
	return list
}()

// SetNow sets the clock of keys.
func SetNow(k *Keys, now func() time.Time) { k.now = now }

// UploadsOf returns the number of concurrent uploads of a key, by its ID.
func UploadsOf(handler http.Handler, id string) int {
	u := &handler.(*adapter).coming
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.n[id]
}
