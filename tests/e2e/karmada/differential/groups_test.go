package differential

import (
	"fmt"
	"testing"

	"evenkeel.io/tests/e2e/karmada/internal/peer"
)

// TestGroups searches combinations of groups.
func TestGroups(t *testing.T) {
	compareAll(t, caseCount(), func() (maker, error) { return groupsCase, nil },
		"none", "one group", "several groups", "all groups", "fewer groups than wished for", "weights that tie", "more than 12 groups")
}

func groupsCase(d dice) ([]pair, error) {
	count, least := d.between(0, 9), d.between(1, 4)
	most := least + d.between(0, 3)
	if d.chance(5) {
		count = d.between(13, 18)
		least, most = d.between(1, 2), d.between(2, 4)
	}
	if d.chance(5) {
		most = d.between(0, 1)
	}
	values, weights := pick(d, 1, 2, 5), pick(d, 0, 2, 4, 9000)
	var items []peer.Item
	list := []object{}
	seenWeights := map[int64]bool{}
	for i := range count {
		item := peer.Item{Name: fmt.Sprintf("R%d", i+1), Value: int64(d.between(1, values)), Weight: int64(d.between(0, weights) * pick(d, 1, 10))}
		items = append(items, item)
		list = append(list, object{"name": item.Name, "value": item.Value, "weight": item.Weight})
		seenWeights[item.Weight] = true
	}
	d.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	target := d.between(0, max(1, values*(least+1)))
	chosen := peer.Choose(items, least, most, target)
	return []pair{{
		question: object{"step": "groups", "items": list, "min": least, "max": most, "target": target},
		wanted:   object{"groups": chosen},
		traits: traitsOf(map[string]bool{
			"none": len(chosen) == 0, "one group": len(chosen) == 1, "several groups": len(chosen) > 1,
			"all groups": len(chosen) == count && count > 1, "fewer groups than wished for": len(chosen) > 0 && len(chosen) < most && len(chosen) < count,
			"weights that tie": len(seenWeights) < count, "more than 12 groups": count > 12 && len(chosen) > 1,
		}),
	}}, nil
}
