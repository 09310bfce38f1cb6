package httpadapter_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

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

// A whole service: a database, a key file with a key of its first account, and a
// shutdown in which requests and analyses come to their end.
func Example_service() {
	dir, err := os.MkdirTemp("", "clinic")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	engine, err := voicescreen.Open(filepath.Join(dir, "clinic.db"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	keys, err := httpadapter.CreateKeys(filepath.Join(dir, "keys.json")) // as "voicescreen keys" does
	if err != nil {
		fmt.Println(err)
		return
	}
	key, err := keys.Create("clinic-a") // show it once: it cannot be read again
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httpadapter.NewServer("", httpadapter.New(engine, keys, nil))
	served := make(chan error, 1)
	go func() { served <- server.Serve(httpadapter.WrapListener(l)) }()

	fmt.Println(get("http://"+l.Addr().String()+"/readyz", ""))
	fmt.Println(get("http://"+l.Addr().String()+"/v2/predict/users/patient-17", key))

	// At the end, such as in a program that has the context of signal.NotifyContext.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil { // requests first
		fmt.Println(err)
	}
	if err := engine.Close(ctx); err != nil { // then the work; what is left is done after the next start
		fmt.Println(err)
	}
	fmt.Println(errors.Is(<-served, http.ErrServerClosed))
	// Output:
	// 200 {"status":"ready"}
	// 200 []
	// true
}

// get makes a call with a key, if there is one.
func get(url, key string) string {
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		return err.Error()
	}
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(resp.StatusCode, " ", strings.TrimSpace(string(body)))
}

// A program with tokens of its own instead of API keys.
func ExampleAuthenticator() {
	st := memory.New(nil)
	defer st.Close()
	engine, err := voicescreen.New(st, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(context.Background())
	clinics := map[string]string{"token-of-clinic-a": "clinic-a"} // your directory
	auth := httpadapter.AuthenticatorFunc(func(r *http.Request) (httpadapter.Caller, error) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		clinic, ok := clinics[token]
		if !ok {
			return httpadapter.Caller{}, fmt.Errorf("the token is unknown: %w", httpadapter.ErrUnauthenticated)
		}
		return httpadapter.Caller{Account: clinic, Scopes: httpadapter.DefaultScopes()}, nil
	})
	handler := httpadapter.New(engine, auth, nil)

	for _, token := range []string{"token-of-clinic-a", "guessed"} {
		r := httptest.NewRequest("GET", "/v2/predict/users/patient-17", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Print(w.Code, " ", w.Body)
	}
	// Output:
	// 200 []
	// 403 {"message":"the token is unknown: not authenticated"}
}
