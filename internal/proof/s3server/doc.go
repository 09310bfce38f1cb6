// Package s3server runs an S3 server for tests: versitygw, which keeps objects in a
// directory. It is a program of its own and no dependency of this module:
//
//	go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
//
// The program is looked for under the name that VERSITYGW contains, on
// PATH, and where go install puts it.
package s3server
