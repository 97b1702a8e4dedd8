package main

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ---- frames, and headers without compression ----

const (
	h2Data         = 0
	h2Headers      = 1
	h2Priority     = 2
	h2Reset        = 3
	h2Settings     = 4
	h2Ping         = 6
	h2WindowUpdate = 8
	h2Continuation = 9

	h2EndStream  = 1
	h2EndHeaders = 4

	h2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	head := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[5:], stream)
	return append(head, payload...)
}

// length is an integer of HPACK with seven bits in its first byte.
func length(n int) []byte {
	if n < 127 {
		return []byte{byte(n)}
	}
	out := []byte{127}
	for n -= 127; n >= 128; n >>= 7 {
		out = append(out, byte(n)|128)
	}
	return append(out, byte(n))
}

// field is a header; 0x40 in front adds it to the dynamic table, 0 does not.
func field(how byte, name, value string) []byte {
	out := append([]byte{how}, length(len(name))...)
	out = append(append(out, name...), length(len(value))...)
	return append(out, value...)
}

const estimatorPath = "/github.com.karmada_io.karmada.pkg.estimator.service.Estimator/"

func callHeaders(method string) (block []byte) {
	for _, header := range [][2]string{{":method", "POST"}, {":scheme", "https"}, {":path", estimatorPath + method},
		{":authority", "estimator"}, {"content-type", "application/grpc"}, {"te", "trailers"}} {
		block = append(block, field(0, header[0], header[1])...)
	}
	return block
}

func withPrefix(message []byte) []byte {
	out := []byte{0, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(out[1:], uint32(len(message)))
	return append(out, message...)
}

// ---- messages ----

func bytesField(number byte, value []byte) []byte {
	out := binary.AppendUvarint([]byte{number<<3 | 2}, uint64(len(value)))
	return append(out, value...)
}

func pair(number byte, key string, value []byte) []byte {
	return bytesField(number, append(bytesField(1, []byte(key)), bytesField(2, value)...))
}

const memberName = "own"

// A replica of one core.
func smallQuestion() []byte {
	return append(bytesField(1, []byte(memberName)), bytesField(2, pair(5, "cpu", bytesField(1, []byte("1"))))...)
}

// largeQuestion asks for sets of many components, each with a selector of its own that all nodes have.
func largeQuestion(components int) []byte {
	message := bytesField(1, []byte(memberName))
	for i := 0; i < components; i++ {
		affinity := bytesField(1, bytesField(1, append(append(bytesField(1, []byte("kubernetes.io/hostname")), bytesField(2, []byte("NotIn"))...),
			bytesField(3, []byte(fmt.Sprint(i)))...)))
		requirements := append(bytesField(1, bytesField(4, affinity)), pair(4, "cpu", bytesField(1, []byte("1m")))...)
		component := append(bytesField(1, []byte(fmt.Sprint(i))), bytesField(2, requirements)...)
		message = append(message, bytesField(2, append(component, 0x18, 1))...)
	}
	return message
}

// ---- the bystander ----

// estimates asks as karmada-scheduler does, over a connection that is kept.
func (st *stage) estimates() *bystander {
	transport := &http.Transport{TLSClientConfig: st.authority.client("", nil), ForceAttemptHTTP2: true,
		DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.3")}, Timeout: 5 * time.Second}).DialContext}
	transport.TLSClientConfig.NextProtos = []string{"h2"}
	return &bystander{name: "estimates", url: "https://" + st.daemon.estimator + estimatorPath + "MaxAvailableReplicas",
		every: 10 * time.Millisecond, limit: 3 * time.Second, body: withPrefix(smallQuestion()), contentType: "application/grpc",
		client: &http.Client{Transport: transport}, check: func(response *http.Response, body []byte) error {
			status := response.Trailer.Get("Grpc-Status") + response.Header.Get("Grpc-Status")
			if status != "0" || len(body) < 7 {
				return fmt.Errorf("status %q %s, %d bytes", status, response.Header.Get("Grpc-Message"), len(body))
			}
			return nil
		}}
}

// ---- N: what may be said to a listener of gRPC ----

// speak opens a connection from this address, and has `say` write to it until the time is over. Those that are ended
// are opened again. It returns how many there were.
func (st *stage) speak(from string, reads bool, end time.Time, say func(write func(...[]byte) bool)) (count int64) {
	config := st.authority.client("", nil)
	config.NextProtos = []string{"h2"}
	for time.Now().Before(end) {
		plain, err := dial(from, st.daemon.estimator)
		if err != nil {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		_ = plain.SetDeadline(end)
		conn := tls.Client(plain, config)
		if err := conn.Handshake(); err != nil {
			_ = plain.Close()
			time.Sleep(20 * time.Millisecond)
			continue
		}
		count++
		over := make(chan struct{})
		if reads {
			go func() {
				_, _ = io.Copy(io.Discard, conn) // until it is ended
				close(over)
			}()
		}
		write := func(parts ...[]byte) bool {
			select {
			case <-over:
				return false
			default:
			}
			_, err := conn.Write(bytes.Join(parts, nil))
			return err == nil && time.Now().Before(end)
		}
		if write([]byte(h2Preface), frame(h2Settings, 0, 0, nil)) {
			say(write)
		}
		_ = conn.Close()
	}
	return count
}

// flood speaks on some connections at a time from one address for each kind of talk.
func (st *stage) flood(connections int, reads bool, talks ...func(write func(...[]byte) bool)) error {
	var all sync.WaitGroup
	var opened atomic.Int64
	end := time.Now().Add(5 * time.Second)
	for i := 0; i < connections; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			opened.Add(st.speak(fmt.Sprintf("127.0.6.%d", 1+i%2), reads, end, talks[i%len(talks)]))
		}()
	}
	all.Wait()
	st.figure = fmt.Sprintf("%d connections were opened", opened.Load())
	if opened.Load() < int64(connections) {
		return fmt.Errorf("only %d connections were opened", opened.Load())
	}
	return nil
}

func many(n int, make func(i int) []byte) []byte {
	var out []byte
	for i := 0; i < n; i++ {
		out = append(out, make(i)...)
	}
	return out
}

// Streams that are reset before they are answered, as many as one can write.
func rapidResets(st *stage) error {
	block := callHeaders("MaxAvailableReplicas")
	return st.flood(8, true, func(write func(...[]byte) bool) {
		for stream := uint32(1); write(many(200, func(i int) []byte {
			id := stream + 2*uint32(i)
			return append(frame(h2Headers, h2EndHeaders, id, block), frame(h2Reset, 0, id, []byte{0, 0, 0, 8})...)
		})); stream += 400 {
		}
	})
}

// Frames that cost the sender little: nobody asks anything.
func frameFloods(st *stage) error {
	repeat := func(kind, flags byte, stream uint32, payload []byte) func(func(...[]byte) bool) {
		return func(write func(...[]byte) bool) {
			for write(many(1000, func(int) []byte { return frame(kind, flags, stream, payload) })) {
			}
		}
	}
	block := callHeaders("MaxAvailableReplicas")
	return st.flood(10, true, repeat(h2Settings, 0, 0, []byte{0, 4, 0, 0, 255, 255}), repeat(h2Ping, 0, 0, make([]byte, 8)),
		repeat(h2Priority, 0, 3, []byte{0, 0, 0, 1, 9}), repeat(h2WindowUpdate, 0, 0, []byte{0, 0, 0, 1}),
		func(write func(...[]byte) bool) {
			if write(frame(h2Headers, h2EndHeaders, 1, block)) {
				repeat(h2Data, 0, 1, nil)(write)
			}
		})
}

// Blocks of headers without end, ones that are large, and ones that name a large field of the dynamic table often.
func headerFloods(st *stage) error {
	large := field(0, "x", strings.Repeat("v", 16000))
	bomb := append(callHeaders("MaxAvailableReplicas"), field(0x40, "x", strings.Repeat("v", 3900))...)
	bomb = append(bomb, bytes.Repeat([]byte{0x80 | 62}, 8000)...)
	return st.flood(9, true, func(write func(...[]byte) bool) {
		if write(frame(h2Headers, 0, 1, callHeaders("MaxAvailableReplicas"))) {
			for write(frame(h2Continuation, 0, 1, field(0, "x", "y"))) {
			}
		}
	}, func(write func(...[]byte) bool) {
		for stream := uint32(1); write(frame(h2Headers, 0, stream, large), frame(h2Continuation, 0, stream, large),
			frame(h2Continuation, h2EndHeaders, stream, large)); stream += 2 {
		}
	}, func(write func(...[]byte) bool) {
		for stream := uint32(1); write(frame(h2Headers, h2EndHeaders, stream, bomb)); stream += 2 {
		}
	})
}

// As many calls as may be open, on hundreds of connections, whose messages do not end.
func openStreams(st *stage) error {
	block := callHeaders("MaxAvailableReplicas")
	return st.flood(200, true, func(write func(...[]byte) bool) {
		if !write(many(1000, func(i int) []byte { return frame(h2Headers, h2EndHeaders, uint32(2*i+1), block) })) {
			return
		}
		for part := uint32(0); write(frame(h2Data, 0, 1+2*(part%1000), append([]byte{0, 0, 0x3f, 0xff, 0xff}, make([]byte, 60)...))); part++ {
			time.Sleep(10 * time.Millisecond)
		}
	})
}

// Calls whose answers nobody takes: the windows are closed, or the socket is not read.
func answersLeft(st *stage) error {
	call := func(stream uint32) []byte {
		return append(frame(h2Headers, h2EndHeaders, stream, callHeaders("MaxAvailableReplicas")),
			frame(h2Data, h2EndStream, stream, withPrefix(smallQuestion()))...)
	}
	windows := frame(h2Settings, 0, 0, []byte{0, 4, 0, 0, 0, 0})
	talk := func(write func(...[]byte) bool) {
		if !write(windows) {
			return
		}
		for stream := uint32(1); write(many(20, func(i int) []byte { return call(stream + 2*uint32(i)) })); stream += 40 {
			time.Sleep(time.Millisecond) // it is what is kept that counts
		}
	}
	return st.flood(40, false, talk)
}

// Good questions that are large, as many as one can ask, from many connections.
func largeQuestions(st *stage) error {
	question := withPrefix(largeQuestion(300))
	return st.flood(64, true, func(write func(...[]byte) bool) {
		for stream := uint32(1); ; stream += 2 {
			if !write(frame(h2Headers, h2EndHeaders, stream, callHeaders("MaxAvailableComponentSets"))) {
				return
			}
			for rest := question; len(rest) > 0; {
				n := min(len(rest), 16000)
				flags := byte(0)
				if n == len(rest) {
					flags = h2EndStream
				}
				if !write(frame(h2Data, flags, stream, rest[:n])) {
					return
				}
				rest = rest[n:]
			}
		}
	})
}

func estimatorSlots(st *stage) error { return st.hold(st.daemon.estimator, true, 4, 300) }
