// Package part says which part of something large is to be done.
package part

import (
	"fmt"
	"os"
)

// Part is every Of-th thing, from number First on.
type Part struct{ First, Of int }

// FromEnvironment reads $PART: "3/10" is every tenth, from number 3 on. Everything without it.
func FromEnvironment() (Part, error) { return Parse(os.Getenv("PART")) }

// Parse reads such a text; an empty one means everything.
func Parse(text string) (Part, error) {
	if text == "" {
		return Part{0, 1}, nil
	}
	var p Part
	var rest string
	if n, _ := fmt.Sscanf(text+" .", "%d/%d %s", &p.First, &p.Of, &rest); n != 3 || rest != "." ||
		p.First < 0 || p.First >= p.Of {
		return Part{}, fmt.Errorf("PART=%s is not like 3/10, with the first number less than the second", text)
	}
	return p, nil
}

// Has says whether the thing of that number is in the part.
func (p Part) Has(number int) bool { return number%p.Of == p.First }
