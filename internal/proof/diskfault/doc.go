// Package diskfault shows what a program's data look like after the power
// failed, and lets its calls on files fail. It is for tests.
//
// # How
//
// A [Recorder] runs a program under ptrace and takes down each call by which it
// changes files below one directory: what was written where, which file and
// which directory was synced, which name was given, moved and removed, and what
// the program said on standard output meanwhile. A [Disk] is given these calls
// one by one and knows what the disk is sure to hold, and what it may hold:
//
//   - What was written to a file is sure after an fsync or fdatasync of it that
//     began after the write had ended, and itself has ended.
//   - Before, each write may be there, or not, or in part: sector by sector of
//     512 bytes, or page by page. Sectors survive in any order. Where a file grew
//     and its content did not survive there are zeros or rubbish.
//   - A name that was given, moved or removed is sure after an fsync of its
//     directory; before, it may be so or not, in any order, but that a change of a
//     name or of a file is not there without the former changes of the same. A
//     rename is done as a whole or not at all. That the fsync of a new file
//     keeps its name too, as many file systems do, is not relied on.
//   - An fsync that fails makes nothing sure, and what it should have written is
//     not written by a later one: so Linux does since 4.13, see
//     https://wiki.postgresql.org/wiki/Fsync_Errors.
//
// [Disk.Fail] then writes one of these states to a directory, at random, and the
// program's own code opens it.
//
// The recorder sees the calls of the real program, those of its libraries
// included, and needs nothing to be built or installed otherwise. Others ways
// were considered: a file system in user space needs a device that a machine
// for tests may not have; replacing the calls within the program leaves out
// those of bbolt, which cannot be replaced; strace must be installed, and
// cannot give errors to one call in the midst of others as exactly.
//
// A fault can be planted: by leaving out calls of a recording, as if the
// program had never made them. A test that does not notice that an fsync is
// missing is no test.
//
// The recorder exists on Linux, on amd64.
package diskfault
