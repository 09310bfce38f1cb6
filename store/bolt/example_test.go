package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "clinic")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "clinic.db")

	st, err := bolt.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()

	_, err = bolt.Open(path, &bolt.Options{LockTimeout: 10 * time.Millisecond})
	fmt.Println("the store is locked:", errors.Is(err, bolt.ErrLocked))

	ctx := context.Background()
	err = st.Create(ctx, &store.Session{Account: "clinic", ID: "1", UserID: "patient", Status: screen.StatusInitiated, CreatedAt: time.Now()})
	if err != nil {
		log.Fatal(err)
	}
	s, err := st.Get(ctx, "clinic", "1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Status)

	_, err = st.Get(ctx, "another clinic", "1")
	fmt.Println("another account has no such session:", errors.Is(err, store.ErrNotFound))
	// Output:
	// the store is locked: true
	// initiated
	// another account has no such session: true
}
