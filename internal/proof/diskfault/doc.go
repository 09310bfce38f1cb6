// Package diskfault simulates power failures under a program, and makes its calls on files
// fail. It is for tests.
//
// # How
//
// A [Recorder] runs a program under ptrace and records each system call that changes files
// below one directory: writes, syncs of files and directories, and names that are created,
// moved and removed. It also records the standard output of the program. A [Disk] receives
// these calls in order and models the durable content of the disk and its possible content:
//
//   - A write is durable after an fsync or fdatasync of its file that began after the end
//     of the write and has ended.
//   - A write that is not durable may survive, be lost, or survive in part: in sectors of
//     512 bytes, or in pages, in any order. Where a file grew and its content was lost,
//     there are zeros or random bytes.
//   - A change of a name is durable after an fsync of its directory. Before, it may survive
//     or be lost, in any order, but not without the earlier changes of the same name or
//     file. A rename survives as a whole or not at all. The fsync of a new file does not
//     make its name durable here, although it does on many file systems.
//   - A failed fsync makes nothing durable, and a later fsync does not write what it failed
//     to write: Linux behaves so since 4.13, see
//     https://wiki.postgresql.org/wiki/Fsync_Errors.
//
// [Disk.Fail] writes one of the possible contents, chosen at random, to a directory. The
// program's own code then opens it.
//
// The recorder sees the calls of the unmodified program, including those of its libraries,
// and needs no other software. Alternatives were considered and rejected. A file system in
// user space needs a device that a test machine may not have. Replacing calls within the
// program leaves out those of bbolt, which cannot be replaced. Strace must be installed, and
// cannot make a single call fail as exactly.
//
// A fault can be planted by leaving out calls of a recording, as if the program had not made
// them. Tests plant faults to show that they detect a missing fsync.
//
// The recorder exists only for Linux on amd64.
package diskfault
