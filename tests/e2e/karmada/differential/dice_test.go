package differential

import (
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

var (
	casesFlag  = flag.Int("cases", 20000, "how many random cases each test tries; 500 with -short")
	seedFlag   = flag.Uint64("seed", 0, "what the cases are made of; 0 takes the time")
	numberFlag = flag.Int("number", -1, "only the case with this number")
)

var seed = sync.OnceValue(func() uint64 {
	if *seedFlag != 0 {
		return *seedFlag
	}
	return uint64(time.Now().UnixNano())
})

func caseCount() int {
	if testing.Short() && *casesFlag > 500 {
		return 500
	}
	return *casesFlag
}

// dice are the random choices of one case.
type dice struct{ *rand.Rand }

func diceFor(number int) dice {
	return dice{rand.New(rand.NewPCG(seed(), uint64(number)))}
}

func (d dice) chance(percent int) bool {
	return d.IntN(100) < percent
}

// between is a number from low to high, both included.
func (d dice) between(low, high int) int {
	return low + d.IntN(high-low+1)
}

func pick[T any](d dice, from ...T) T {
	return from[d.IntN(len(from))]
}

// some picks each with the given chance.
func some[T any](d dice, percent int, from ...T) []T {
	picked := []T{}
	for _, one := range from {
		if d.chance(percent) {
			picked = append(picked, one)
		}
	}
	return picked
}

// several makes so many things, at least low and at most high.
func several[T any](d dice, low, high int, make func() T) []T {
	list := []T{}
	for range d.between(low, high) {
		list = append(list, make())
	}
	return list
}
