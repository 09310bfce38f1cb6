package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
)

// queueLimit is small, so that the overload exceeds it. Chosen: some seconds of work.
const queueLimit = 64

// service is the service under load.
type service struct {
	path   string // of the database
	engine *voicescreen.Engine
	server *http.Server
	base   string // address of the service
	key    string
	wav    []byte // the recording that every flow submits
	client *http.Client
}

func newService(path string, seconds float64) (*service, error) {
	s := &service{path: path, wav: recording(seconds)}
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	var err error
	s.engine, err = voicescreen.Open(path, &voicescreen.Options{Queue: voicescreen.QueueOptions{Limit: queueLimit}, Logger: logger})
	if err != nil {
		return nil, err
	}
	keys := httpadapter.NewKeys()
	if s.key, err = keys.Create("soak", append(httpadapter.DefaultScopes(), httpadapter.ScopeAdmin)...); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.base = "http://" + l.Addr().String()
	s.server = httpadapter.NewServer("", httpadapter.New(s.engine, keys, &httpadapter.Options{Logger: logger}))
	go s.server.Serve(l)
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, MaxConnsPerHost: 256}, Timeout: 2 * time.Minute}
	return s, nil
}

func (s *service) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s.client.CloseIdleConnections()
	return errors.Join(s.server.Shutdown(ctx), s.engine.Close(ctx))
}

// audioLeft returns the number of audio files in the store.
func (s *service) audioLeft() (int, error) {
	entries, err := os.ReadDir(s.path + ".audio")
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	return len(entries), err
}

// sample is a measurement of the process and the store.
type sample struct {
	memory     float64 // resident memory in bytes, or the Go heap where the system does not report it
	goroutines float64
	database   float64 // bytes
}

func (s *service) sample() sample {
	x := sample{memory: resident(), goroutines: float64(runtime.NumGoroutine())}
	if info, err := os.Stat(s.path); err == nil {
		x.database = float64(info.Size())
	}
	return x
}

// resident returns the resident memory of this process in bytes, or the size of its Go heap
// if the system does not report it.
func resident() float64 {
	b, err := os.ReadFile("/proc/self/statm")
	var size, pages float64
	if err == nil {
		if _, err = fmt.Sscan(string(b), &size, &pages); err == nil {
			return pages * float64(os.Getpagesize())
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse)
}

// do sends a request and returns the status and body of the response. After an error the
// status is 0 and the body is the error.
func (s *service) do(ctx context.Context, method, path, contentType string, body []byte) (status int, answer string) {
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	r.Header.Set("X-API-Key", s.key)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if method == http.MethodGet { // frequent polling would add to the load
		r.Header.Set("Prefer", "wait=10")
	}
	reply, err := s.client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(io.LimitReader(reply.Body, 1<<20))
	if err != nil {
		return 0, err.Error()
	}
	return reply.StatusCode, string(b)
}

// recording returns a WAV file of 44.1 kHz with bursts of a 120 Hz complex and pauses.
func recording(seconds float64) []byte {
	const rate = 44100
	n := int(seconds * rate)
	le := binary.LittleEndian
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt ")
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(le.AppendUint16(b, 1), 1)
	b = le.AppendUint32(le.AppendUint32(b, rate), 2*rate)
	b = le.AppendUint16(le.AppendUint16(b, 2), 16)
	b = append(b, "data"...)
	b = le.AppendUint32(b, uint32(2*n))
	for i := range n {
		t := float64(i) / rate
		v := 0.0
		if math.Mod(t, 2.5) < 2.3 {
			envelope := 0.3 + 0.7*math.Pow(math.Sin(math.Pi*4*t), 2)
			for k := 1.0; k < 30; k++ {
				v += 0.1 * envelope / k * math.Sin(2*math.Pi*120*k*t)
			}
		}
		v += 1e-4 * math.Sin(float64(i)*float64(i))
		b = le.AppendUint16(b, uint16(int16(math.Round(32767*v))))
	}
	le.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

// form returns the content type and body of a submission of the recording.
func (s *service) form(session string) (contentType string, body []byte) {
	const boundary = "voicescreen-soak"
	var b strings.Builder
	b.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; name=\"session_id\"\r\n\r\n" + session + "\r\n")
	b.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\n")
	body = append([]byte(b.String()), s.wav...)
	return "multipart/form-data; boundary=" + boundary, append(body, "\r\n--"+boundary+"--\r\n"...)
}
