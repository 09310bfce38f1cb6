package memory_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/memory"
)

func ExampleNew() {
	st := memory.New(nil)
	defer st.Close()
	ctx := context.Background()
	err := st.Create(ctx, &store.Session{Account: "clinic", ID: "1", UserID: "patient", Status: screen.StatusInitiated, CreatedAt: time.Now()})
	if err != nil {
		log.Fatal(err)
	}
	// Exactly one of any number of racing updates finds the state it expects.
	s, err := st.Update(ctx, "clinic", "1", func(s *store.Session, _ time.Time) error {
		if s.Status != screen.StatusInitiated {
			return fmt.Errorf("the session is %v", s.Status)
		}
		s.Status, s.Due = screen.StatusProcessing, time.Now()
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Status)
	// Output: processing
}
