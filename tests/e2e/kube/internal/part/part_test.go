package part

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]Part{"": {0, 1}, "0/1": {0, 1}, "3/10": {3, 10}, "9/10": {9, 10}} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"3", "3/", "/10", "10/10", "-1/10", "3/10/2", "3/10 x", "a/b", "0/0"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestPartsMakeTheWhole(t *testing.T) {
	for number := range 100 {
		times := 0
		for first := range 10 {
			if (Part{first, 10}).Has(number) {
				times++
			}
		}
		if times != 1 {
			t.Errorf("%d is in %d parts", number, times)
		}
	}
}
