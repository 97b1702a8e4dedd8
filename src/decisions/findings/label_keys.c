#include "findings/label_keys.h"

#include "base/sorted.h"

#include <stdlib.h>

/* Is the expression "key In [the pod's value]"? An API server adds such an expression to the
 * selector of a new pod, for each key of matchLabelKeys. upstream: pkg/registry/core/pod
 * strategy.go applyMatchLabelKeys (v1.34). */
static bool is_of_match_label_keys(const struct label_expression *e, const struct labels *pod) {
    struct str value;
    return str_eq(e->op, STR("In")) && e->value_count == 1 && labels_lookup(pod, e->key, &value) &&
           str_eq(e->values[0], value);
}

static int compare_keys(const void *a, const void *b) {
    const struct label_expression *x = *(const struct label_expression *const *)a,
                                  *y = *(const struct label_expression *const *)b;
    return str_cmp(x->key, y->key);
}

struct keys {
    struct str *items; /* sorted; a key may be there twice */
    uint32_t count;
};

/* Finds the keys of the user's own expressions. Returns false if there is no memory, or if no steps
 * are left. */
static bool find_users_keys(const struct keyed_selector *keyed, struct arena *arena,
                            struct keys *ret) {
    const struct label_selector *s = keyed->selector;
    const uint32_t count = s->expression_count;
    const struct label_expression **sorted = arena_array(arena, count, sizeof *sorted);
    ret->items = arena_array(arena, count, sizeof *ret->items);
    if (sorted == NULL || ret->items == NULL || !steps_take_sort(&arena->steps, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &s->expressions[i];
    qsort(sorted, count, sizeof *sorted, compare_keys);
    for (uint32_t i = 0; i < count; i++) {
        const bool again = i > 0 && str_eq(sorted[i - 1]->key, sorted[i]->key);
        if (again || !is_of_match_label_keys(sorted[i], keyed->pod))
            ret->items[ret->count++] = sorted[i]->key;
    }
    return true;
}

static void check_match_keys(const struct keyed_selector *keyed, struct str path,
                             struct findings *f) {
    struct keys users = {0};
    struct str value;
    if (!find_users_keys(keyed, f->arena, &users))
        return;
    for (uint32_t i = 0; i < keyed->match_count && steps_take(&f->arena->steps, 1); i++) {
        const struct str key = keyed->match[i];
        if (labels_lookup(&keyed->selector->match_labels, key, &value) ||
            sorted_texts_find(users.items, users.count, key) != UINT32_MAX)
            findings_add(f, FINDING_INVALID, path, STR("Remove it from one of them"),
                         "an API server refuses '%.*s' in both matchLabelKeys and labelSelector",
                         STR_ARG(key));
    }
}

void findings_of_label_keys(const struct keyed_selector *keyed, struct str path,
                            struct findings *f) {
    if (keyed->match_count == 0)
        return;
    if (!keyed->selector->present)
        findings_add(f, FINDING_INVALID, path, STR("Add a labelSelector"),
                     "an API server refuses matchLabelKeys without a labelSelector");
    check_match_keys(keyed, path, f);
}
