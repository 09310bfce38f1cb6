package memory_test

import (
	"testing"
	"time"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/memory"
	"github.com/voicescreen/voicescreen/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(_ *testing.T, now func() time.Time) store.Store { return memory.New(&memory.Options{Now: now}) })
}
