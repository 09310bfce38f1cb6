package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// secured are the tables with row-level security, in the order in which they are locked.
var secured = []string{"sessions", "audio", "audio_chunks", "documents", "encryption"}

const (
	sqlNotSecured = `
		SELECT relname FROM pg_class JOIN unnest($1::text[]) WITH ORDINALITY AS t (name, place) ON oid = ('voicescreen.' || name)::regclass
		WHERE NOT relrowsecurity ORDER BY place`
	sqlSecure = `ALTER TABLE voicescreen.%s ENABLE ROW LEVEL SECURITY`

	// sqlSeesAll is false for a role to which the policies apply and that sees only some
	// accounts.
	sqlSeesAll = `
		SELECT NOT row_security_active('voicescreen.sessions')
			OR EXISTS (SELECT FROM voicescreen.tenants WHERE role = current_user AND account IS NULL)`
	sqlRole = `SELECT current_user::text`

	sqlRowsSecured = `SELECT relrowsecurity FROM pg_class WHERE oid = 'voicescreen.sessions'::regclass`
)

// secureRows turns row-level security on if that is asked for, and returns ErrServer for
// a role that would see only some accounts: a service would take their sessions for all.
func secureRows(ctx context.Context, c *pgx.Conn, on bool) error {
	if on {
		if err := turnOn(ctx, c); err != nil {
			return fmt.Errorf("row-level security: %w", err)
		}
	}
	var all bool
	if err := c.QueryRow(ctx, sqlSeesAll).Scan(&all); err != nil || all {
		return err
	}
	var role string
	if err := c.QueryRow(ctx, sqlRole).Scan(&role); err != nil {
		return err
	}
	return fmt.Errorf("%w: row-level security hides accounts from the role %q; as the owner of the tables: INSERT INTO voicescreen.tenants VALUES ('%s', NULL)", ErrServer, role, role)
}

// turnOn turns row-level security on where it is off. Replicas that start together take
// the lock of the migrations.
func turnOn(ctx context.Context, c *pgx.Conn) error {
	off, err := notSecured(ctx, c)
	if err != nil || len(off) == 0 {
		return err
	}
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlMigrationLock, int64(migrationLock)); err != nil {
			return err
		}
		if off, err = notSecured(ctx, c); err != nil {
			return err
		}
		for _, table := range off {
			if _, err := tx.Exec(ctx, fmt.Sprintf(sqlSecure, table)); err != nil {
				return err
			}
		}
		return nil
	})
}

func notSecured(ctx context.Context, c *pgx.Conn) ([]string, error) {
	rows, err := c.Query(ctx, sqlNotSecured, secured)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
