package memory_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/memory"
)

func ExampleNew() {
	st := memory.New()
	defer st.Close()
	ctx := context.Background()
	err := st.Create(ctx, &store.Session{Account: "clinic", ID: "1", UserID: "patient", State: store.Initiated, CreatedAt: time.Now()})
	if err != nil {
		log.Fatal(err)
	}
	// Exactly one of any number of racing updates finds the state it expects.
	s, err := st.Update(ctx, "clinic", "1", func(s *store.Session) error {
		if s.State != store.Initiated {
			return fmt.Errorf("the session is %v", s.State)
		}
		s.State, s.Due = store.Queued, time.Now()
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.State)
	// Output: queued
}
