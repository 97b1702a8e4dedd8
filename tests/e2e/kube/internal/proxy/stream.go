package proxy

import (
	"io"
	"net"
	"net/http"
)

// Stream is one answer under way, for the functions of a Fault. Its methods panic with
// http.ErrAbortHandler where the conversation is over, which net/http takes as the handler's end.
type Stream struct {
	Request *http.Request
	Status  int // of the target's answer; what a first Write sends
	Proxy   *Proxy

	w    http.ResponseWriter
	body io.Reader // the target's; nil in Answer
	sent bool
}

func (p *Proxy) stream(w http.ResponseWriter, r *http.Request, body io.Reader) *Stream {
	return &Stream{Request: r, Status: http.StatusOK, Proxy: p, w: w, body: body}
}

// Header of the answer, until the first Write.
func (s *Stream) Header() http.Header { return s.w.Header() }

// Head sends status and headers now.
func (s *Stream) Head() {
	if !s.sent {
		s.w.WriteHeader(s.Status)
	}
	s.sent = true
	s.flush()
}

// Write sends bytes at once, in a TLS record and a chunk of their own.
func (s *Stream) Write(bytes []byte) (int, error) {
	if !s.sent {
		s.w.WriteHeader(s.Status)
		s.sent = true
	}
	n, err := s.w.Write(bytes)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	s.flush()
	return n, nil
}

func (s *Stream) flush() {
	if http.NewResponseController(s.w).Flush() != nil {
		panic(http.ErrAbortHandler)
	}
}

// Read gets the next bytes of the target's answer.
func (s *Stream) Read(into []byte) (int, error) { return s.body.Read(into) }

// Pass sends the rest of the target's answer as it comes. If the target breaks off, so do we.
func (s *Stream) Pass() {
	s.sent = true
	s.flush()
	buffer := make([]byte, 64<<10)
	for {
		n, err := s.body.Read(buffer)
		if n > 0 {
			_, _ = s.Write(buffer[:n]) // panics where it fails
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			s.Cut()
		}
	}
}

// Cut ends the connection with a TCP reset. Does not return.
func (s *Stream) Cut() {
	reset(s.Request.Context().Value(connKey{}).(net.Conn))
	panic(http.ErrAbortHandler)
}

// Hold keeps the connection open and silent until the client or the proxy ends it.
func (s *Stream) Hold() {
	<-s.Request.Context().Done()
	panic(http.ErrAbortHandler)
}
