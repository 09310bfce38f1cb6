// Package pgserver runs a real PostgreSQL server for tests: initdb, the server
// as a child of the test, databases, a kill −9 and a new start. Commits are
// synced as in production, and a server in memory syncs
// them there.
//
// It finds the programs where Debian's package postgresql puts them and in the
// PATH. Where they are missing, Start returns ErrNotInstalled.
package pgserver
