package s3

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/minio/minio-go/v7"

	"github.com/voicescreen/voicescreen/store"
)

// fullCodes are the codes with which servers say that a disk or a quota is full:
// versitygw, Ceph, MinIO.
var fullCodes = map[string]bool{
	"InsufficientStorage": true, "QuotaExceeded": true,
	"XMinioStorageFull": true, "XMinioAdminBucketQuotaExceeded": true,
}

// failed wraps an error of minio-go with what was being done, and with the error of
// package store that it means.
func (b *Bucket) failed(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("store/audio/s3: %s: %w", doing, cause)
	}
	if kind := kindOf(err); kind != nil {
		return fmt.Errorf("store/audio/s3: %s in bucket %q: %w: %w", doing, b.bucket, kind, err)
	}
	return fmt.Errorf("store/audio/s3: %s in bucket %q: %w", doing, b.bucket, err)
}

// kindOf returns store.ErrFull, store.ErrUnavailable, or nil for other errors.
func kindOf(err error) error {
	var answer minio.ErrorResponse
	if errors.As(err, &answer) {
		switch {
		case fullCodes[answer.Code] || answer.StatusCode == http.StatusInsufficientStorage:
			return store.ErrFull
		case answer.StatusCode == http.StatusNotImplemented:
			return nil
		case answer.StatusCode >= 500 || answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusRequestTimeout || answer.Code == "RequestTimeout":
			return store.ErrUnavailable
		}
		return nil
	}
	var (
		found       *credentialsError
		certificate *tls.CertificateVerificationError
		unknown     x509.UnknownAuthorityError
		record      tls.RecordHeaderError
		network     net.Error
		request     *url.Error
	)
	switch {
	case errors.As(err, &found), errors.As(err, &certificate), errors.As(err, &unknown), errors.As(err, &record):
		return nil
	case errors.Is(err, errTimeout), errors.As(err, &network), errors.As(err, &request):
		return store.ErrUnavailable
	}
	return nil
}

// isCode reports whether the server answered with a code.
func isCode(err error, code string) bool {
	var answer minio.ErrorResponse
	return errors.As(err, &answer) && answer.Code == code
}
