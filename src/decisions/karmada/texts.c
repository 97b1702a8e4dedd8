#include "karmada/texts.h"

#include "base/name_hash.h"

#include <assert.h>
#include <errno.h>

int texts_init(struct texts *ret, uint32_t cap, struct arena *arena) {
    uint64_t slots = 4;
    while (slots < (uint64_t)cap * 2)
        slots *= 2;
    struct str *items = arena_array_unset(arena, cap, sizeof *items);
    uint32_t *numbers = arena_array_unset(arena, slots, sizeof *numbers);
    if (items == NULL || numbers == NULL || slots > UINT32_MAX)
        return -ENOMEM;
    memset(numbers, 0xff, slots * sizeof *numbers);
    *ret =
        (struct texts){.slots = numbers, .mask = (uint32_t)(slots - 1), .items = items, .cap = cap};
    return 0;
}

/* Returns the slot of the text, or the free slot for it. */
static uint32_t *slot_of(const struct texts *t, struct str text) {
    uint32_t at = (uint32_t)name_hash(name_hash_key(), text).a & t->mask;
    while (t->slots[at] != TEXTS_NONE && !str_eq(t->items[t->slots[at]], text))
        at = (at + 1) & t->mask;
    return &t->slots[at];
}

uint32_t texts_put(struct texts *t, struct str text) {
    uint32_t *slot = slot_of(t, text);
    if (*slot == TEXTS_NONE) {
        assert(t->count < t->cap);
        t->items[t->count] = text;
        *slot = t->count++;
    }
    return *slot;
}

uint32_t texts_find(const struct texts *t, struct str text) {
    return t->count == 0 ? TEXTS_NONE : *slot_of(t, text);
}
