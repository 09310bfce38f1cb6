package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/httpadapter/webhook"
	"github.com/voicescreen/voicescreen/internal/command"
	"github.com/voicescreen/voicescreen/store"
	"github.com/voicescreen/voicescreen/store/bolt"
	"github.com/voicescreen/voicescreen/store/postgres"
)

// checkPostgres reads all that a PostgreSQL database holds, and reports what cannot be
// read. Sessions that change meanwhile are no fault. Recordings elsewhere are not read.
func checkPostgres(cmd *cobra.Command, url string, key []byte, report func(fault string) error) (c bolt.Contents, err error) {
	ctx, elsewhere := cmd.Context(), 0
	st, err := openPostgres(ctx, url, key)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	for after := ""; ; {
		list, err := st.Scan(ctx, after, scanBatch)
		var damaged *store.DamagedError
		if errors.As(err, &damaged) {
			c.Sessions += damaged.Records
			if err := report(fmt.Sprintf("%d of the sessions after %s: %v", damaged.Records, visible(after), damaged.Err)); err != nil {
				return c, err
			}
		} else if err != nil {
			return c, err
		}
		for _, s := range list {
			after = s.ID
			c.Sessions++
			if s.Audio == "" {
				continue
			}
			n, err := readAudio(ctx, st, s)
			if errors.Is(err, postgres.ErrElsewhere) {
				elsewhere++
				continue
			}
			if err != nil {
				if err := report(fmt.Sprintf("session %s: its recording: %v", visible(s.ID), err)); err != nil {
					return c, err
				}
				continue
			}
			c.Audio, c.Bytes = c.Audio+1, c.Bytes+n
		}
		if len(list) == scanBatch {
			continue
		}
		if elsewhere > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s not in the database, which \"serve --audio\" keeps elsewhere, not read\n", cmd.Root().Name(), command.Count(elsewhere, "recording"))
		}
		return c, checkDocuments(ctx, st, report)
	}
}

// readAudio reads the recording of a session to its end, and returns its length. A
// recording that was analysed meanwhile is none.
func readAudio(ctx context.Context, st store.Store, s *store.Session) (n int64, err error) {
	r, err := st.Audio().Open(ctx, s.Audio)
	if err == nil {
		n, err = io.Copy(io.Discard, r)
		err = errors.Join(err, r.Close())
	}
	if errors.Is(err, store.ErrNotFound) {
		if now, herr := st.Head(ctx, s.Account, s.ID); errors.Is(herr, store.ErrNotFound) || herr == nil && now.Audio != s.Audio {
			return 0, nil
		}
	}
	return n, err
}

// checkDocuments reads the documents that a service reads at its start.
func checkDocuments(ctx context.Context, st store.Store, report func(fault string) error) error {
	_, keys := httpadapter.StoredKeys(ctx, st)
	_, hooks := webhook.Stored(ctx, st)
	engine, models := voicescreen.New(st, &voicescreen.Options{Workers: -1})
	if models == nil {
		models = closeEngine(engine)
	}
	for _, fault := range []error{keys, hooks, models} {
		if fault == nil {
			continue
		}
		if err := report(fault.Error()); err != nil {
			return err
		}
	}
	return nil
}
