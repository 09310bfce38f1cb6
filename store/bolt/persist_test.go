package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
)

// envPersist, if not empty, makes the process of envHistory make one history and retry
// each operation, also the opening of the store, until it succeeds. The process prints
// "failed" after a failed attempt, "done NAME N" instead of "NAME N" if the operation
// returned an error and was done, "same NAME N" if it changes nothing, and "error" if the
// store is neither as before nor as after the operation.
const envPersist = "VOICESCREEN_TEST_HISTORY_PERSIST"

// maxAttempts is how often an operation is tried. Chosen: more than the number of calls
// of any operation that can fail.
const maxAttempts = 200

func persist(path string, opts *bolt.Options) {
	var st *bolt.Store
	for range maxAttempts {
		var err error
		if st, err = bolt.Open(path, opts); err == nil {
			break
		}
		fmt.Println("failed")
	}
	if st == nil {
		fmt.Println("error: the store cannot be opened")
		os.Exit(1)
	}
	fmt.Println("opened")
	name := os.Getenv(envHistoryName) + "0"
	for n := range historyLength {
		if err := tryUntilDone(st, name, n); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
	fmt.Println("end")                   // no more faults from here on
	err := st.Ping(context.Background()) // removes audio whose removal failed
	_, waits, scanErr := scan(st)
	names, dirErr := os.ReadDir(path + ".audio")
	if err := errors.Join(err, scanErr, dirErr, st.Close()); err != nil || len(names) != waits {
		fmt.Println("error", err, len(names), "audio files, want", waits)
	}
	os.Exit(0)
}

// tryUntilDone makes operation n of a history, and retries it until it is done.
func tryUntilDone(st *bolt.Store, name string, n int) error {
	for range maxAttempts {
		before := newHistory(name)
		for before.n < n {
			before.next()
		}
		after := newHistory(name)
		for after.n < n {
			after.next()
		}
		do := after.next()
		err := do(context.Background(), st)
		if err == nil && before.differs(after.sessions, after.document) == nil {
			fmt.Println("same", name, n+1)
			return nil
		}
		if err == nil {
			fmt.Println(name, n+1)
			return nil
		}
		found, _, scanErr := scan(st)
		if scanErr != nil {
			return fmt.Errorf("after operation %d failed with %v: %w", n, err, scanErr)
		}
		document, _, docErr := st.Document(context.Background(), name)
		if docErr != nil {
			return fmt.Errorf("after operation %d failed with %v: %w", n, err, docErr)
		}
		asBefore, asAfter := before.differs(found[name], string(document)), after.differs(found[name], string(document))
		switch {
		case asBefore == nil:
			fmt.Println("failed")
		case asAfter == nil:
			fmt.Println("done", name, n+1)
			return nil
		default:
			return fmt.Errorf("after operation %d failed with %v: %v; %v", n, err, asBefore, asAfter)
		}
	}
	return fmt.Errorf("operation %d does not succeed", n)
}

// scan returns the sessions of a store by account and ID, with the content of their audio
// in Audio, and the number of those with audio.
func scan(st *bolt.Store) (found map[string]map[string]*store.Session, waits int, err error) {
	ctx := context.Background()
	list, err := st.Scan(ctx, "", 1<<30)
	if err != nil {
		return nil, 0, err
	}
	found = map[string]map[string]*store.Session{}
	for _, s := range list {
		if s.Audio != "" {
			waits++
			if s.Audio, err = readAudio(ctx, st, s.Audio); err != nil {
				return nil, 0, fmt.Errorf("audio of session %s: %w", s.ID, err)
			}
		}
		if found[s.Account] == nil {
			found[s.Account] = map[string]*store.Session{}
		}
		found[s.Account][s.ID] = s
	}
	return found, waits, nil
}
