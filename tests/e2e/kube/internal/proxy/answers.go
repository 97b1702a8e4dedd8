package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ---- answers that the target did not give: for Fault.Answer ----

// Text answers with a status and a body of any kind.
func Text(status int, contentType, body string) func(*Stream) {
	return func(s *Stream) {
		s.Header().Set("Content-Type", contentType)
		s.Header().Set("Content-Length", strconv.Itoa(len(body)))
		s.Status = status
		_, _ = s.Write([]byte(body)) // panics where it fails
	}
}

// Failure answers as an API server does when something is wrong.
func Failure(code int, reason metav1.StatusReason, message string) func(*Stream) {
	return Text(code, "application/json", string(status(code, reason, message)))
}

// Gone answers 410: what the client asked for is too old.
func Gone() func(*Stream) {
	return Failure(http.StatusGone, metav1.StatusReasonExpired, "too old resource version: 1 (2)")
}

// TooMany answers 429 and asks for a pause.
func TooMany(pause time.Duration) func(*Stream) {
	seconds := strconv.Itoa(int(pause.Seconds()))
	answer := Failure(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "too many requests")
	return func(s *Stream) {
		s.Header().Set("Retry-After", seconds)
		answer(s)
	}
}

// HTML is what proxies say when they have lost their server.
func HTML(status int) func(*Stream) {
	return Text(status, "text/html", "<html><head><title>Bad Gateway</title></head>"+
		"<body><h1>502 Bad Gateway</h1><hr>gateway</body></html>\n")
}

// Empty answers 200 with nothing.
func Empty() func(*Stream) { return Text(http.StatusOK, "application/json", "") }

// Silent takes the request and never answers.
func Silent() func(*Stream) { return func(s *Stream) { s.Hold() } }

// Reset ends the connection instead of answering.
func Reset() func(*Stream) { return func(s *Stream) { s.Cut() } }

// Late passes the request on after a pause, also when the client has gone meanwhile, as a server does
// that is slow to begin with what it has taken.
func Late(pause time.Duration) func(*Stream) {
	return func(s *Stream) {
		body, err := io.ReadAll(s.Request.Body)
		if err != nil {
			s.Cut()
		}
		time.Sleep(pause)
		request := s.Proxy.outgoing(s.Request).WithContext(context.WithoutCancel(s.Request.Context()))
		request.Body = io.NopCloser(bytes.NewReader(body))
		response, err := s.Proxy.upstream.RoundTrip(request)
		if err != nil {
			s.Cut()
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			s.Cut()
		}
		Text(response.StatusCode, "application/json", string(text))(s)
	}
}

// Events answers a watch with these lines, and then stays silent.
func Events(lines ...string) func(*Stream) {
	return func(s *Stream) {
		s.Header().Set("Content-Type", "application/json")
		s.Head()
		for _, line := range lines {
			fmt.Fprintln(s, line)
		}
		s.Hold()
	}
}

// GoneEvent is how a watch that has begun says 410.
func GoneEvent() string {
	return fmt.Sprintf(`{"type":"ERROR","object":%s}`,
		status(http.StatusGone, metav1.StatusReasonExpired, "too old resource version: 1 (2)"))
}

func status(code int, reason metav1.StatusReason, message string) []byte {
	text, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	})
	if err != nil {
		panic(err) // it is a constant
	}
	return text
}
