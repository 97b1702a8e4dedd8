package proxy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"
)

// ---- what happens to the target's answer: for Fault.Body ----

// CutAfter passes so many bytes and then resets the connection. An answer that is shorter is cut at
// its end, where the last chunk would be.
func CutAfter(bytes int64) func(*Stream) {
	return func(s *Stream) {
		s.Head()
		_, _ = io.CopyN(s, s, bytes) // shorter is fine
		s.Cut()
	}
}

// HoldAfter passes so many bytes and then nothing more, in either direction.
func HoldAfter(bytes int64) func(*Stream) {
	return func(s *Stream) {
		s.Head()
		_, _ = io.CopyN(s, s, bytes) // shorter is fine
		s.Hold()
	}
}

// EndAfter passes what comes within the time, and then ends the answer properly.
func EndAfter(limit time.Duration) func(*Stream) {
	return func(s *Stream) {
		s.Head()
		lines := readLines(s)
		timeout := time.After(limit)
		for {
			select {
			case line, ok := <-lines:
				if !ok {
					return
				}
				_, _ = s.Write(line) // panics where it fails
			case <-timeout:
				return
			}
		}
	}
}

// Lines until the answer's end. The channel is never left full: its reader may go away.
func readLines(s *Stream) <-chan []byte {
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		reader := bufio.NewReaderSize(s, 64<<10)
		for {
			line, err := reader.ReadBytes('\n')
			select {
			case lines <- line:
			case <-s.Request.Context().Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// Delayed passes every line on so long after it came.
func Delayed(by time.Duration) func(*Stream) {
	type waiting struct {
		line []byte
		due  time.Time
	}
	return func(s *Stream) {
		s.Head()
		queue := make(chan waiting, 10000)
		go func() {
			defer close(queue)
			for line := range readLines(s) {
				select {
				case queue <- waiting{line, time.Now().Add(by)}:
				case <-s.Request.Context().Done():
				}
			}
		}()
		for next := range queue {
			time.Sleep(time.Until(next.due))
			_, _ = s.Write(next.line) // panics where it fails
		}
	}
}

// ByteByByte sends each byte by itself.
func ByteByByte() func(*Stream) {
	return func(s *Stream) {
		s.Head()
		reader := bufio.NewReader(s)
		for {
			b, err := reader.ReadByte()
			if err != nil {
				return
			}
			_, _ = s.Write([]byte{b}) // panics where it fails
		}
	}
}

// InPairs sends two lines in one write, the first one late.
func InPairs() func(*Stream) {
	return func(s *Stream) {
		s.Head()
		var waiting []byte
		for line := range readLines(s) {
			if waiting == nil {
				waiting = line
				continue
			}
			_, _ = s.Write(append(waiting, line...)) // panics where it fails
			waiting = nil
		}
		_, _ = s.Write(waiting)
	}
}

// EachLine sends what `change` makes of each line; that may be several lines, or none.
func EachLine(change func(line []byte) []byte) func(*Stream) {
	return func(s *Stream) {
		s.Head()
		for line := range readLines(s) {
			_, _ = s.Write(change(line)) // panics where it fails
		}
	}
}

// EachEvent is EachLine with the event's type and object to look at.
func EachEvent(change func(line []byte, kind string, object json.RawMessage) []byte) func(*Stream) {
	return EachLine(func(line []byte) []byte {
		var event struct {
			Type   string
			Object json.RawMessage
		}
		if len(line) == 0 || json.Unmarshal(line, &event) != nil {
			return line
		}
		return change(line, event.Type, event.Object)
	})
}

// Throttle lets so many bytes a second pass.
func Throttle(bytesPerSecond int) func(*Stream) {
	return func(s *Stream) {
		s.Head()
		step := 50 * time.Millisecond
		tick := time.NewTicker(step)
		defer tick.Stop()
		buffer := make([]byte, bytesPerSecond/int(time.Second/step))
		for range tick.C {
			n, err := s.Read(buffer)
			_, _ = s.Write(buffer[:n]) // panics where it fails
			if err != nil {
				return
			}
		}
	}
}

// Pages answers a list in pages of so many items if the client is content with pages, whatever the
// target would do. Give it as Answer.
func Pages(perPage int) func(*Stream) {
	return func(s *Stream) {
		size := perPage
		query := s.Request.URL.Query()
		first := 0
		if !query.Has("limit") {
			size = math.MaxInt32
		}
		if token := query.Get("continue"); token != "" {
			_, _ = fmt.Sscanf(token, "e2e-%d", &first) // 0 for what is not ours
		}
		query.Del("continue")
		query.Del("limit")
		body, err := s.Proxy.Fetch(s.Request, query)
		if err != nil {
			s.Cut()
		}
		page, err := cutPage(body, first, size)
		if err != nil {
			s.Cut()
		}
		Text(200, "application/json", string(page))(s)
	}
}

func cutPage(body []byte, first, size int) ([]byte, error) {
	var list map[string]json.RawMessage
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	var items []json.RawMessage
	if err := json.Unmarshal(list["items"], &items); err != nil {
		return nil, err
	}
	var meta map[string]any
	if err := json.Unmarshal(list["metadata"], &meta); err != nil {
		return nil, err
	}
	last := min(first+size, len(items))
	if last < len(items) {
		meta["continue"] = fmt.Sprintf("e2e-%d", last)
	}
	page := map[string]any{"kind": list["kind"], "apiVersion": list["apiVersion"],
		"metadata": meta, "items": items[min(first, last):last]}
	return json.Marshal(page)
}
