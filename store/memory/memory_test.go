package memory_test

import (
	"testing"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/memory"
	"github.com/voicescreen/voicescreen/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return memory.New() })
}
