package postgres

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/voicescreen/voicescreen/store"
)

// Documents returns the names of the documents that were put, in order.
func (s *Store) Documents(ctx context.Context) (names []string, err error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	err = s.read(ctx, "list documents", sqlDocuments, func(rows pgx.Rows) (err error) {
		names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return names, err
}

// Document is described at [store.Store]. It reads the database each time.
func (s *Store) Document(ctx context.Context, name string) (data []byte, revision uint64, err error) {
	if err := s.calls.Begin(ctx); err != nil {
		return nil, 0, err
	}
	defer s.calls.End()
	if err := store.CheckDocument(name, 0); err != nil {
		return nil, 0, err
	}
	err = s.read(ctx, "read a document", sqlDocument, func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&data, &revision}, func() error { return nil })
		return err
	}, name)
	if err != nil {
		return nil, 0, err
	}
	data, err = s.vault.openDocument(name, revision, data)
	return data, revision, err
}

// PutDocument is described at [store.Store].
func (s *Store) PutDocument(ctx context.Context, name string, revision uint64, data []byte) (uint64, error) {
	if err := s.calls.Begin(ctx); err != nil {
		return 0, err
	}
	defer s.calls.End()
	if err := store.CheckDocument(name, len(data)); err != nil {
		return 0, err
	}
	if revision >= math.MaxInt64 {
		return 0, store.ErrConflict // no document comes so far
	}
	if data == nil {
		data = []byte{} // not NULL
	}
	data = s.vault.sealDocument(name, revision+1, data)
	sql, args := sqlPutDocument, []any{name, int64(revision), data}
	if revision == 0 {
		sql, args = sqlCreateDocument, []any{name, data}
	}
	var replaced int64
	err := s.write(ctx, "put a document", sql, func(rows pgx.Rows) error {
		rows.Close()
		replaced = rows.CommandTag().RowsAffected()
		return rows.Err()
	}, args...)
	if err != nil {
		return 0, err
	}
	if replaced == 0 {
		return 0, store.ErrConflict
	}
	return revision + 1, nil
}
