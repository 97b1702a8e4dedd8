#include "data/fluid/terms.h"

#include <errno.h>
#include <stdlib.h>

/* ---- requirements ---- */

static int by_text(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Appends the values of a requirement, sorted, each once. */
static int put_values(const struct label_expression *requirement, struct strbuf *out) {
    uint32_t count = requirement->value_count;
    if (count <= 1) {
        if (count == 1)
            key_append(out, requirement->values[0]);
        return 0;
    }
    struct str *sorted = calloc(count, sizeof *sorted);
    if (sorted == NULL)
        return -ENOMEM;
    memcpy(sorted, requirement->values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_text);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || !str_eq(sorted[i - 1], sorted[i]))
            key_append(out, sorted[i]);
    free(sorted);
    return 0;
}

int terms_hash_requirement(const struct label_expression *requirement, bool is_field,
                           struct steps *steps, struct hash128 *ret) {
    struct strbuf text = {0};
    *ret = (struct hash128){0};
    if (!steps_take(steps, 1 + (uint64_t)requirement->value_count))
        return 0;
    strbuf_append_char(&text, is_field ? 'f' : 'l');
    key_append(&text, requirement->key);
    key_append(&text, requirement->op);
    int r = put_values(requirement, &text);
    if (r == 0 && strbuf_failed(&text))
        r = -ENOMEM;
    *ret = hash_bytes128(text.p, text.n);
    strbuf_done(&text);
    return r;
}

int terms_hash(const struct written_term *term, struct steps *steps, struct arena *arena,
               struct requirement_hashes *ret) {
    uint32_t count = term->expression_count + term->field_count;
    struct hash128 *items = arena_array(arena, count, sizeof *items);
    int r = items == NULL ? -ENOMEM : 0;
    for (uint32_t i = 0; r == 0 && i < count && !steps_spent(steps); i++) {
        bool is_field = i >= term->expression_count;
        r = terms_hash_requirement(is_field ? &term->fields[i - term->expression_count]
                                            : &term->expressions[i],
                                   is_field, steps, &items[i]);
    }
    *ret = (struct requirement_hashes){items, items != NULL ? count : 0};
    return r;
}

static int by_hash(const void *a, const void *b) {
    return memcmp(a, b, sizeof(struct hash128));
}

bool terms_have(const struct requirement_hashes *term, struct hash128 wanted, struct steps *steps) {
    for (uint32_t i = 0; i < term->count; i++)
        if (!steps_take(steps, 1) || by_hash(&term->items[i], &wanted) == 0)
            return !steps_spent(steps);
    return false;
}

/* ---- a set of terms ---- */

struct term_entry {
    struct hash128 hash;
    bool used;
};

static int hash_term(const struct requirement_hashes *term, struct steps *steps,
                     struct hash128 *ret) {
    uint32_t unique = 0;
    struct hash128 *sorted = calloc((size_t)term->count + 1, sizeof *sorted);
    if (sorted == NULL)
        return -ENOMEM;
    (void)steps_take(steps, term->count); /* the caller checks the budget */
    if (term->count > 0)
        memcpy(sorted, term->items, term->count * sizeof *sorted);
    if (term->count > 1)
        qsort(sorted, term->count, sizeof *sorted, by_hash);
    for (uint32_t i = 0; i < term->count; i++)
        if (unique == 0 || by_hash(&sorted[unique - 1], &sorted[i]) != 0)
            sorted[unique++] = sorted[i];
    *ret = hash_bytes128(sorted, unique * sizeof *sorted);
    free(sorted);
    return 0;
}

/* Returns the entry with this hash, or the free entry for it: the set has room. */
static struct term_entry *find_entry(const struct term_set *set, struct hash128 hash) {
    size_t at = hash.a & (set->cap - 1);
    while (set->entries[at].used && by_hash(&set->entries[at].hash, &hash) != 0)
        at = (at + 1) & (set->cap - 1);
    return &set->entries[at];
}

static int grow(struct term_set *set) {
    struct term_set larger = {.cap = set->cap > 0 ? 2 * set->cap : 16, .count = set->count};
    if (2 * (set->count + 1) <= set->cap)
        return 0;
    larger.entries = calloc(larger.cap, sizeof *larger.entries);
    if (larger.entries == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < set->cap; i++)
        if (set->entries[i].used)
            *find_entry(&larger, set->entries[i].hash) = set->entries[i];
    free(set->entries);
    *set = larger;
    return 0;
}

int term_set_add(struct term_set *set, const struct requirement_hashes *term, struct steps *steps,
                 bool *ret_added) {
    struct hash128 hash;
    if (grow(set) != 0 || hash_term(term, steps, &hash) != 0)
        return -ENOMEM;
    struct term_entry *entry = find_entry(set, hash);
    *ret_added = !entry->used;
    set->count += !entry->used;
    *entry = (struct term_entry){hash, true};
    return 0;
}

void term_set_done(struct term_set *set) {
    free(set->entries);
    *set = (struct term_set){0};
}
