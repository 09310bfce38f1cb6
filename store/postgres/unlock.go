package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// unlock returns the vault of a store, and decides for a new one whether it is
// encrypted.
func unlock(ctx context.Context, c *pgx.Conn, key []byte) (*vault, error) {
	var sealed []byte
	err := c.QueryRow(ctx, sqlSecret).Scan(&sealed)
	if err == pgx.ErrNoRows { // a new store
		if len(key) > 0 {
			sealed = secretAEAD(key).Seal(nil, nil, newSecret(), nil)
		}
		if _, err := c.Exec(ctx, sqlMakeSecret, sealed); err != nil { // another process may be first
			return nil, err
		}
		err = c.QueryRow(ctx, sqlSecret).Scan(&sealed)
	}
	if err != nil {
		return nil, err
	}
	secret, err := openSecret(sealed, key)
	if secret == nil {
		return nil, err
	}
	return newVault(secret), nil
}

// openSecret returns the secret of a store, nil if it is not encrypted.
func openSecret(sealed, key []byte) ([]byte, error) {
	switch {
	case sealed == nil && len(key) == 0:
		return nil, nil
	case sealed == nil:
		return nil, fmt.Errorf("%w: the store is not encrypted", ErrKey)
	case len(key) == 0:
		return nil, fmt.Errorf("%w: the store is encrypted, and no key is given", ErrKey)
	}
	secret, err := secretAEAD(key).Open(nil, nil, sealed, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: it is another one", ErrKey)
	}
	return secret, nil
}

// Rekey replaces the key of the encrypted store in the database of a connection
// string. Processes that have the store open go on; later ones need the new key.
// What was stored is not written again: who had the former key and the table
// voicescreen.encryption of that time can read it. The error is ErrKey if key is
// not that of the store, and then nothing changed.
func Rekey(ctx context.Context, url string, key, newKey []byte) error {
	if len(key) != KeySize || len(newKey) != KeySize {
		return fmt.Errorf("%w: keys have %d and %d bytes, want %d", ErrKey, len(key), len(newKey), KeySize)
	}
	config, err := pgxpool.ParseConfig(url) // it may have settings of the pool
	if err != nil {
		return fmt.Errorf("store/postgres: rekey: %w", err)
	}
	c, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return fmt.Errorf("store/postgres: rekey: %w", err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }() // what was done was committed
	var sealed []byte
	if err := c.QueryRow(ctx, sqlSecret).Scan(&sealed); err != nil {
		return fmt.Errorf("store/postgres: rekey: %w", err)
	}
	secret, err := openSecret(sealed, key)
	if err != nil {
		return err
	}
	tag, err := c.Exec(ctx, sqlRekey, sealed, secretAEAD(newKey).Seal(nil, nil, secret, nil))
	if err == nil && tag.RowsAffected() == 0 {
		err = fmt.Errorf("%w: another process replaced it at the same time", ErrKey)
	}
	if err != nil {
		return fmt.Errorf("store/postgres: rekey: %w", err)
	}
	return nil
}
