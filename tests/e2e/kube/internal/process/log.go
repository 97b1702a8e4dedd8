package process

import (
	"bytes"
	"net"
	"os"
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

// FreePort is a TCP port of 127.0.0.1 that nobody used a moment ago.
func FreePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
