package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrationLock is the advisory lock that replicas which start together take.
// Chosen: "voicescr" in ASCII.
const migrationLock = 0x766f696365736372

const (
	sqlMigrationTable = `
		CREATE SCHEMA IF NOT EXISTS voicescreen;
		CREATE TABLE IF NOT EXISTS voicescreen.migrations (version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp())`
	sqlHasMigrations = `SELECT to_regclass('voicescreen.migrations') IS NOT NULL`
	sqlVersion       = `SELECT coalesce(max(version), 0) FROM voicescreen.migrations`
	sqlMigrated      = `INSERT INTO voicescreen.migrations (version, name) VALUES ($1, $2)`
	sqlNoLimits      = `SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`
	sqlMigrationLock = `SELECT pg_advisory_xact_lock($1)`
)

// migration is a step from one version of the tables to the next.
type migration struct{ name, sql string }

// migrations returns all that there are, in order: the first one leads to version
// 1. Names begin with the version.
func migrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var all []migration
	for i, name := range names {
		number, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
		if n, err := strconv.Atoi(number); err != nil || n != i+1 {
			return nil, fmt.Errorf("migration %s stands at place %d", name, i+1)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		all = append(all, migration{name, string(text)})
	}
	return all, nil
}

// migrate brings the tables to the last version of all, in one transaction:
// either all missing steps are taken or none. Of several processes one does it
// and the others wait. A version that the program does not know is refused.
func migrate(ctx context.Context, c *pgx.Conn, all []migration) error {
	has, version := false, 0
	if err := c.QueryRow(ctx, sqlHasMigrations).Scan(&has); err != nil {
		return err
	}
	if has { // a role that may not make tables can use them
		if err := c.QueryRow(ctx, sqlVersion).Scan(&version); err != nil {
			return err
		}
	}
	if version >= len(all) {
		return known(version, len(all))
	}
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlNoLimits); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlMigrationLock, int64(migrationLock)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlMigrationTable, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, sqlVersion).Scan(&version); err != nil {
			return err
		}
		if err := known(version, len(all)); err != nil {
			return err
		}
		for _, m := range all[version:] {
			version++
			if _, err := tx.Exec(ctx, m.sql, pgx.QueryExecModeSimpleProtocol); err != nil {
				return fmt.Errorf("migration %s: %w", m.name, err)
			}
			if _, err := tx.Exec(ctx, sqlMigrated, version, m.name); err != nil {
				return fmt.Errorf("migration %s: %w", m.name, err)
			}
		}
		return nil
	})
}

// known says whether the program knows a version of the tables.
func known(version, last int) error {
	if version > last {
		return fmt.Errorf("the tables have version %d, and this program knows 1 to %d: run a later one", version, last)
	}
	return nil
}
