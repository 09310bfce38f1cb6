package bolt

// syncDir does nothing: Windows has no call for it, and NTFS keeps a journal of
// its names.
func syncDir(string) error { return nil }
