package httpadapter_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/store/memory"
)

// The service under a prefix of a program's own server.
func ExampleNew() {
	st := memory.New(nil)
	defer st.Close()
	engine, err := voicescreen.New(st, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(context.Background())
	keys := httpadapter.NewKeys() // OpenKeys for a file
	key, err := keys.Create("clinic-a")
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/voice/", http.StripPrefix("/voice", httpadapter.New(engine, keys, nil)))

	r := httptest.NewRequest("POST", "/voice/v2/initiate", strings.NewReader(`{"user_id":"patient-17","is_initiated":false}`))
	r.Header.Set("X-API-Key", key)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	fmt.Print(w.Code, " ", w.Body)
	// Output: 406 {"message":"consent was not given"}
}
