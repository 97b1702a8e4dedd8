package differential

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Upstream wraps around to garbage where numbers leave int64 (Value of 1e19), and rounds some
// negative fractions the wrong way (-0.5n). We hold the exact number in nano, at most 10^28 units,
// round away from zero and saturate. So what is expected is worked out from the exact number that
// upstream parsed; that upstream's own answers are the same where they are sound is checked on the
// way.

var (
	nanos    = big.NewInt(1e9)
	maxNanos = new(big.Int).Mul(new(big.Int).Exp(big.NewInt(10), big.NewInt(28), nil), nanos)
	int64Min = big.NewInt(math.MinInt64)
	int64Max = big.NewInt(math.MaxInt64)
)

func clamp(n, least, most *big.Int) *big.Int {
	if n.Cmp(least) < 0 {
		return least
	}
	if n.Cmp(most) > 0 {
		return most
	}
	return n
}

// inNanos is the number that was parsed, at most what we hold; saturated says that it was more.
func inNanos(q *resource.Quantity) (held *big.Int, saturated bool) {
	number := q.DeepCopy() // AsDec changes what it is asked of
	exact, ok := new(big.Rat).SetString(number.AsDec().String())
	if !ok {
		panic("a decimal number that is no number")
	}
	exact.Mul(exact, new(big.Rat).SetInt(nanos))
	if !exact.IsInt() {
		panic("finer than nano")
	}
	held = clamp(exact.Num(), new(big.Int).Neg(maxNanos), maxNanos)
	return held, held.Cmp(exact.Num()) != 0
}

// awayFromZero divides and rounds, and saturates at the limits of int64.
func awayFromZero(n *big.Int, by int64) int64 {
	quotient, rest := new(big.Int).QuoRem(n, big.NewInt(by), new(big.Int))
	if rest.Sign() != 0 {
		quotient.Add(quotient, big.NewInt(int64(rest.Sign())))
	}
	return clamp(quotient, int64Min, int64Max).Int64()
}

// sound says whether upstream's scaling to int64 is to be trusted.
func sound(n *big.Int, by int64) bool {
	scaled := awayFromZero(n, by)
	return n.Sign() >= 0 && scaled < math.MaxInt64/1000
}

// described is the driver's answer.
func described(t *testing.T, q resource.Quantity, err error) string {
	if err != nil {
		return "error"
	}
	n, saturated := inNanos(&q)
	value, milli := awayFromZero(n, 1e9), awayFromZero(n, 1e6)
	if sound(n, 1e9) && q.Value() != value || sound(n, 1e6) && q.MilliValue() != milli {
		t.Errorf("%s: upstream's Value %d and MilliValue %d, exactly %d and %d",
			q.String(), q.Value(), q.MilliValue(), value, milli)
	}
	text := q.String()
	again, err := resource.ParseQuantity(text)
	if saturated || err != nil || again.Cmp(q) != 0 {
		text = anything // we cut the number, or upstream wrote another one: "1" for 1000E
	}
	return fmt.Sprintf("%d %d %s", value, milli, text)
}

func kindOfQuantity(answer string) string {
	if answer == "error" {
		return "error"
	}
	return "number"
}

func TestQuantities(t *testing.T) {
	comparePrimitives(t, []string{"number", "error"}, kindOfQuantity, func(d dice) primitive {
		text := d.quantityText()
		q, err := resource.ParseQuantity(text)
		return primitive{"quantity", []string{text}, described(t, q, err)}
	})
}

// TestQuantitiesInJSON: strings with blanks around the number, numbers, null, and what is neither.
func TestQuantitiesInJSON(t *testing.T) {
	comparePrimitives(t, []string{"number", "error"}, kindOfQuantity, func(d dice) primitive {
		text := d.quantityText()
		if d.chance(70) {
			text = toJSON(pick(d, "", "", " ", "  ") + text + pick(d, "", "", " "))
		}
		if d.chance(5) {
			text = pick(d, "null", "true", "{}", "[]", "\"\"", "\" \"", "1.5", "-0", "1e3", "1E3")
		}
		var q resource.Quantity
		err := decodeQuantity(text, &q)
		return primitive{"quantity-json", []string{text}, described(t, q, err)}
	})
}

func TestQuantitiesCompared(t *testing.T) {
	comparePrimitives(t, []string{"-1", "0", "1", "error"}, itself, func(d dice) primitive {
		one, two := d.quantityText(), d.quantityText()
		if d.chance(30) {
			two = d.mutate(one, "0.5km", 1)
		}
		a, err := resource.ParseQuantity(one)
		b, err2 := resource.ParseQuantity(two)
		if err != nil || err2 != nil {
			return primitive{"compare", []string{one, two}, "error"}
		}
		m, _ := inNanos(&a)
		n, _ := inNanos(&b)
		if upstream := a.Cmp(b); m.CmpAbs(maxNanos) < 0 && n.CmpAbs(maxNanos) < 0 && upstream != m.Cmp(n) {
			t.Errorf("upstream compares %s with %s as %d, exactly %d", one, two, upstream, m.Cmp(n))
		}
		return primitive{"compare", []string{one, two}, fmt.Sprint(m.Cmp(n))}
	})
}

var suffixes = []string{"", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
	"e3", "E3", "e-3", "E-9", "e+6", "e0", "e1", "e-12", "e18", "e19", "e27", "e28", "e40"}

// longExponent takes upstream a long time and much memory to be exact about, and above 32 bits it
// reads another one.
var longExponent = regexp.MustCompile(`[eE][+-]?\d{4,}`)

func (d dice) quantityText() string {
	text := pick(d, "", "", "", "+", "-") + d.digits()
	if d.chance(40) {
		text += "." + d.digits()
	}
	text += pick(d, suffixes...)
	if mutated := d.mutate(text, "0123456789..+-eEinumkKMGTP ", 3); d.chance(25) && !longExponent.MatchString(mutated) {
		return mutated
	}
	return text
}

func (d dice) digits() string {
	switch d.IntN(8) {
	case 0:
		return ""
	case 1:
		return strings.Repeat("0", 1+d.IntN(3)) + fmt.Sprint(d.IntN(100))
	case 2:
		return fmt.Sprint(d.Int64())
	case 3:
		return fmt.Sprintf("%d%d", d.Uint64(), d.Uint64())
	case 4:
		return pick(d, "9223372036854775807", "9223372036854775808", "1024", "1000", "999999999", "1000000000")
	}
	return fmt.Sprint(d.IntN(pick(d, 3, 20, 1100, 1000000)))
}

// decodeQuantity decodes as a field of an object is decoded.
func decodeQuantity(text string, into *resource.Quantity) error {
	var object struct{ Quantity resource.Quantity }
	if err := json.Unmarshal([]byte(`{"Quantity":`+text+`}`), &object); err != nil {
		return err
	}
	*into = object.Quantity
	return nil
}
