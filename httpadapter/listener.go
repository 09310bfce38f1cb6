package httpadapter

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// WrapListener returns a listener for the Serve of a server of [NewServer]. On its
// connections the answers that net/http gives by itself, without a call of the
// handler, have the body of every other error, a JSON object with a message:
//
//   - 400 for a request that cannot be parsed: its first line, a "%zz" in the path,
//     a header field, Host or Content-Length;
//   - 417 for an unknown Expect;
//   - 431 for header fields beyond MaxHeaderBytes;
//   - 501 for an unknown Transfer-Encoding, and 505 for an unknown version of HTTP.
//
// A connection that breaks off or is too slow before the end of the header is closed
// without an answer. A listener below TLS does not see the answers: the server must
// be reached over plain HTTP, as behind a proxy.
func WrapListener(l net.Listener) net.Listener { return &listener{l} }

type listener struct{ net.Listener }

// Accept returns a connection whose answers of net/http are messages.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{c}, nil
}

// conn is a connection of a listener. It is safe for concurrent use as net.Conn is.
type conn struct{ net.Conn }

// Write writes b, or a message in place of an answer of net/http.
func (c *conn) Write(b []byte) (int, error) {
	own := ownAnswer(b)
	if own == nil {
		return c.Conn.Write(b)
	}
	if _, err := c.Conn.Write(own); err != nil {
		return 0, err
	}
	return len(b), nil
}

// CloseWrite closes the connection for writing: net/http calls it after 431, so that
// the client can read the answer.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// maxOwnAnswer is the size of the largest answer of net/http itself in bytes, which
// it writes at once. Chosen: twice that of the longest one.
const maxOwnAnswer = 512

// ownAnswer returns the answer in place of b if b is one of net/http itself, nil
// otherwise. The answers of the handler have a Content-Type of JSON, or of HTML for
// the page of the documentation, and those without a body are not 417.
func ownAnswer(b []byte) []byte {
	begin, ok := bytes.CutPrefix(b, []byte("HTTP/1.1 "))
	if !ok || len(b) > maxOwnAnswer || len(begin) < 3 {
		return nil
	}
	status, err := strconv.Atoi(string(begin[:3]))
	if err != nil || status < 400 {
		return nil
	}
	head, body, whole := strings.Cut(string(b), "\r\n\r\n")
	_, fields, _ := strings.Cut(head, "\r\n")
	if !whole {
		return nil
	}
	switch status {
	case http.StatusBadRequest, http.StatusRequestHeaderFieldsTooLarge, http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		if fields != "Content-Type: text/plain; charset=utf-8\r\nConnection: close" {
			return nil
		}
	case http.StatusExpectationFailed:
		if body != "" || !strings.Contains(fields, "Content-Length: 0") {
			return nil
		}
	default:
		return nil
	}
	return ownMessage(status, body)
}

// ownMessage returns the whole answer with a message for the text of one of net/http.
func ownMessage(status int, text string) []byte {
	said := strings.ToLower(http.StatusText(status))
	if _, reason, ok := strings.Cut(text, ": "); ok {
		said += ": " + reason
	}
	body, err := json.Marshal(message{said})
	if err != nil {
		return nil // not for a string
	}
	body = append(body, '\n')
	h := http.Header{"Content-Type": {"application/json"}, "Connection": {"close"}, "Content-Length": {strconv.Itoa(len(body))}}
	setHeader(h, newRequestID())
	var out bytes.Buffer
	out.WriteString("HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\n")
	_ = h.Write(&out) // a buffer takes everything
	out.WriteString("\r\n")
	out.Write(body)
	return out.Bytes()
}
