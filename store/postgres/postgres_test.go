package postgres_test

import (
	"sync"
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T, now func() time.Time) store.Store { return open(t, database(t), at(now)) })
}

func TestStoreIsShared(t *testing.T) {
	storetest.RunShared(t, openIn())
}

// openIn returns a function that opens the store that a directory stands for.
func openIn() func(t *testing.T, dir string, now func() time.Time) store.Store {
	var urls sync.Map // by directory
	return func(t *testing.T, dir string, now func() time.Time) store.Store {
		t.Helper()
		url, ok := urls.Load(dir)
		if !ok {
			url = database(t)
			urls.Store(dir, url)
		}
		return open(t, url.(string), at(now))
	}
}
