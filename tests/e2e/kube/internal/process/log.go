package process

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
)

// Output is everything that the program has written so far.
func (p *Process) Output() string {
	text, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Tail is the last lines of the output, for messages.
func (p *Process) Tail(lines int) string {
	text := []byte(p.Output())
	start := len(text)
	for ; lines >= 0 && start > 0; lines-- {
		start = bytes.LastIndexByte(text[:start], '\n')
		if start < 0 {
			return string(text)
		}
	}
	return string(text[start:])
}

// FreePort is a TCP port of 127.0.0.1 that nobody used a moment ago. Where there is room below the ports
// that the kernel gives connections it is one of those, so that none takes it meanwhile.
func FreePort() (int, error) {
	const span = 16000
	var low, high int
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err == nil {
		_, err = fmt.Sscan(string(text), &low, &high)
	}
	for tries := 0; err == nil && low > span+1024 && tries < 1000; tries++ {
		port := low - 1 - rand.IntN(span)
		if _, given := givenPorts.LoadOrStore(port, true); given {
			continue
		}
		if listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, listener.Close()
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

var givenPorts sync.Map // that this process has handed out
