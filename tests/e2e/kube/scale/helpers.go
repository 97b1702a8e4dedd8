package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ---- progress ----

var began = time.Now()

// say tells on standard error how far it is; standard output is for the tables.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "== %4.0f s: %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
}

// ---- many things at once ----

const clients = 16

// each calls do(0) to do(count - 1), several at a time, and returns an error if there was one.
func each(count int, do func(i int) error) error {
	var next, failed atomic.Int64
	errs := make([]error, clients)
	var group sync.WaitGroup
	for worker := range clients {
		group.Go(func() {
			for failed.Load() == 0 {
				i := int(next.Add(1) - 1)
				if i >= count {
					return
				}
				if err := do(i); err != nil {
					errs[worker] = err
					failed.Add(1)
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// ---- numbers ----

func seconds(d time.Duration) float64 { return d.Seconds() }

// percentile of values in any order, by the nearest rank; 0 of none.
func percentile(values []float64, percent float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(percent / 100 * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

// median is the middle one, or the mean of the two in the middle.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}
