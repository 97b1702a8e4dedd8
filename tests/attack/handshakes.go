package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// deaf is a connection on which a client says something and hears nothing.
type deaf struct{ net.Conn }

func (deaf) Read([]byte) (int, error) { return 0, errors.New("nothing is heard") }

// handshakes begins handshakes with webhook and extender, and says no more after the hello, on some
// connections at a time until each is closed. Who waits for them must not work meanwhile: what the
// daemon takes of the processors is compared with the time.
func handshakes(st *stage) error {
	const each, duration = 8, 6 * time.Second
	const busy, most = "process_cpu_seconds_total", 0.75 // of one processor: bystanders and beginnings take some
	before, began := st.daemon.metric(busy), time.Now()
	var all sync.WaitGroup
	var silent atomic.Int64
	for i := 0; i < 2*each; i++ {
		to := []string{st.daemon.webhook, st.daemon.extender}[i%2]
		all.Add(1)
		go func() {
			defer all.Done()
			for time.Since(began) < duration {
				if st.saysHello(to, began.Add(duration)) {
					silent.Add(1)
				}
			}
		}()
	}
	all.Wait()
	took := (st.daemon.metric(busy) - before) / time.Since(began).Seconds()
	st.figure = fmt.Sprintf("%d silent handshakes, %.2f processors", silent.Load(), took)
	if took > most*float64(slack) {
		st.notes = append(st.notes, fmt.Sprintf("%s, %.2f are allowed", st.figure, most*float64(slack)))
	}
	if silent.Load() < 2*each {
		return fmt.Errorf("only %d handshakes were begun", silent.Load())
	}
	return nil
}

// saysHello says whether it was answered, once the connection is closed or the time is up.
func (st *stage) saysHello(to string, end time.Time) bool {
	conn, err := dial("127.0.5.5", to)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = tls.Client(deaf{conn}, st.authority.client("", nil)).Handshake() // it fails once the hello is sent
	_ = conn.SetDeadline(end)
	n, _ := io.Copy(io.Discard, conn)
	return n > 0
}
