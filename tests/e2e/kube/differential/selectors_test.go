package differential

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

var (
	keys = []string{"a", "b", "in", "notin", "example.com/a", "a.b-c_d", "1"}
	// Some of which no label may have.
	strangeKeys = []string{"", "-a", "a-", "a/b/c", "/a", "a/", "Example.com/a", "a b", "ä",
		strings.Repeat("k", 63), strings.Repeat("k", 64)}
	values        = []string{"", "1", "2", "07", "x", "v-1"}
	strangeValues = []string{"-1", "+1", "a b", "x/y", "ä", "v.", strings.Repeat("v", 63), strings.Repeat("v", 64)}
)

func (d dice) key() string {
	if d.chance(4) {
		return pick(d, strangeKeys...)
	}
	return pick(d, keys...)
}

func (d dice) value() string {
	if d.chance(4) {
		return pick(d, strangeValues...)
	}
	return pick(d, values...)
}

func (d dice) values(atMost int) []string {
	var list []string
	for range d.IntN(atMost + 1) {
		list = append(list, d.value())
	}
	return list
}

// someLabels are those of an object that is asked about; the values need not be legal.
func (d dice) someLabels() map[string]string {
	all := map[string]string{}
	for _, key := range some(d, 60, keys...) {
		all[key] = d.value()
	}
	return all
}

func TestLabelSelectors(t *testing.T) {
	comparePrimitives(t, trueFalseError, itself, func(d dice) primitive {
		var selector *metav1.LabelSelector
		if !d.chance(5) {
			selector = d.anyLabelSelector()
		}
		object := d.someLabels()
		compiled, err := metav1.LabelSelectorAsSelector(selector)
		yes := err == nil && compiled.Matches(labels.Set(object))
		return primitive{"label-selector", []string{toJSON(selector), toJSON(object)}, verdictOf(yes, err)}
	})
}

// anyLabelSelector need not be one that the API server accepts.
func (d dice) anyLabelSelector() *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	for range pick(d, 0, 0, 1, 2) {
		if selector.MatchLabels == nil {
			selector.MatchLabels = map[string]string{}
		}
		selector.MatchLabels[d.key()] = d.value()
	}
	for range pick(d, 0, 1, 1, 2) {
		one := metav1.LabelSelectorRequirement{Key: d.key(), Operator: pick(d, metav1.LabelSelectorOpIn,
			metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)}
		if d.chance(4) {
			one.Operator = pick[metav1.LabelSelectorOperator](d, "", "in", "Gt", "Lt", "Equals")
		}
		list := one.Operator == metav1.LabelSelectorOpIn || one.Operator == metav1.LabelSelectorOpNotIn
		if list != d.chance(5) {
			one.Values = append(d.values(3), d.value())
		}
		selector.MatchExpressions = append(selector.MatchExpressions, one)
	}
	return selector
}

// parse is labels.Parse but for NUL, which ends a selector there: "a\x00!!" means "a". Evenkeel
// refuses such bytes as it does all others that no label has.
func parse(text string) (labels.Selector, error) {
	if strings.ContainsRune(text, 0) {
		return nil, errors.New("NUL in a selector")
	}
	return labels.Parse(text)
}

func TestSelectorStrings(t *testing.T) {
	comparePrimitives(t, trueFalseError, itself, func(d dice) primitive {
		text, object := d.selectorText(), d.someLabels()
		parsed, err := parse(text)
		yes := err == nil && parsed.Matches(labels.Set(object))
		return primitive{"selector", []string{text, toJSON(object)}, verdictOf(yes, err)}
	})
}

// TestSelectorsWritten: what upstream prints of a selector means the same to us, letter by letter.
func TestSelectorsWritten(t *testing.T) {
	comparePrimitives(t, []string{"true", "error"}, itself, func(d dice) primitive {
		text := d.selectorText()
		parsed, err := parse(text)
		written := text
		if err == nil {
			written = parsed.String()
		}
		return primitive{"same-selector", []string{text, written}, verdictOf(true, err)}
	})
}

func (d dice) selectorText() string {
	var parts []string
	for range d.IntN(4) {
		parts = append(parts, d.requirementText())
	}
	text := strings.Join(parts, pick(d, ",", ",", ", ", " ,\t"))
	if d.chance(50) {
		return text
	}
	return d.mutate(text, "ab15,,=!()<>-_./ \t\r\n\v\x00\x80\"'&", 3)
}

func (d dice) requirementText() string {
	key, space := d.key(), pick(d, "", "", " ")
	list := "(" + strings.Join(append(d.values(3), d.value()), space+","+space) + ")"
	return pick(d,
		key, "!"+space+key,
		key+space+"="+space+d.value(), key+"=="+d.value(), key+space+"!="+space+d.value(),
		key+" in "+list, key+" notin "+list, key+" in"+space+list,
		key+">"+pick(d, "0", "1", "07", "-5", "x", ""),
		key+space+"<"+space+pick(d, "2", "9223372036854775807", "9223372036854775808"))
}
