package durable

// SyncDir does nothing: Windows has no call for it, and NTFS keeps a journal of
// its names.
func SyncDir(string) error { return nil }
