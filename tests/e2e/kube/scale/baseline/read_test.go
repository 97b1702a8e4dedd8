package main

import (
	"strings"
	"testing"
	"testing/iotest"
)

// The mark is found wherever reads cut it, and not before it is complete.
func TestReadToEnd(t *testing.T) {
	before := strings.Repeat(`{"type":"ADDED"}`+"\n", 10000)
	whole := before + `{"type":"BOOKMARK","annotations":{` + endOfList + `}}`
	want := int64(len(before) + strings.Index(whole[len(before):], "}}"))
	count, err := readToEnd(iotest.OneByteReader(strings.NewReader(whole)))
	if err != nil || count != want {
		t.Errorf("one byte after the other: %d bytes, %v; want %d", count, err, want)
	}
	if count, err = readToEnd(strings.NewReader(whole)); err != nil || count < want {
		t.Errorf("as much as fits: %d bytes, %v; want %d at least", count, err, want)
	}
	if _, err = readToEnd(strings.NewReader(whole[:want-1])); err == nil {
		t.Error("half a mark is taken for one")
	}
}
