#include "estimator/wire_messages.h"

#include "estimator/wire.h"

#include <errno.h>
#include <protobuf-c/protobuf-c.h>
#include <stdlib.h>

const char *wire_library_version(void) {
    return protobuf_c_version();
}

/* ---- protobuf-c in an arena: nothing is freed one by one ---- */

static void *arena_allocate(void *arena, size_t n) {
    return arena_alloc(arena, n);
}

static void arena_keep(void *arena, void *p) {
    (void)arena; /* memory lives until the arena is reset */
    (void)p;
}

int wire_unpack(const ProtobufCMessageDescriptor *type, struct str bytes, struct arena *arena,
                const char *what, void *ret_message, struct err *err) {
    ProtobufCAllocator allocator = {
        .alloc = arena_allocate, .free = arena_keep, .allocator_data = arena};
    if (!steps_take_bytes(&arena->steps, bytes.n))
        return err_set(err, -E2BIG, "%s: too much to read", what);
    ProtobufCMessage *message = protobuf_c_message_unpack(
        type, &allocator, bytes.n, (const uint8_t *)(bytes.n > 0 ? bytes.p : ""));
    if (arena_failed(arena))
        return err_set(err, -ENOMEM, "%s: too large", what);
    if (message == NULL)
        return err_set(err, -EINVAL, "these %zu bytes are not the message %s", bytes.n, what);
    *(ProtobufCMessage **)ret_message = message;
    return 0;
}

/* ---- which field counts ---- */

bool wire_affinity(const Wire__Claim *claim, struct str *ret_selector) {
    if (claim->has_affinity_bytes && claim->affinity_bytes.len > 0) {
        *ret_selector = wire_str(claim->affinity_bytes);
        return true;
    }
    if (claim->has_affinity)
        *ret_selector = wire_str(claim->affinity);
    return claim->has_affinity;
}

struct wire_list wire_tolerations(const Wire__Claim *claim) {
    if (claim->n_tolerations_bytes > 0)
        return (struct wire_list){claim->tolerations_bytes, claim->n_tolerations_bytes};
    return (struct wire_list){claim->tolerations, claim->n_tolerations};
}

struct wire_entries wire_requests(const Wire__Requirements *r) {
    if (r->n_requests_bytes > 0)
        return (struct wire_entries){r->requests_bytes, r->n_requests_bytes};
    return (struct wire_entries){r->requests, r->n_requests};
}

struct wire_entries wire_component_requests(const Wire__ComponentRequirements *r) {
    if (r->n_requests_bytes > 0)
        return (struct wire_entries){r->requests_bytes, r->n_requests_bytes};
    return (struct wire_entries){r->requests, r->n_requests};
}

/* ---- maps ---- */

struct placed_entry {
    Wire__Entry *entry;
    size_t place; /* the entry's index in the message */
};

static int by_key_and_place(const void *a, const void *b) {
    const struct placed_entry *left = a, *right = b;
    const int order = str_cmp(wire_str(left->entry->key), wire_str(right->entry->key));
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

int wire_entries_sort(struct wire_entries *entries, struct arena *arena, struct err *err) {
    size_t kept = 0;
    if (entries->count < 2)
        return 0;
    if (!steps_take_sort(&arena->steps, entries->count))
        return err_set(err, -E2BIG, "too many entries of a map");
    struct placed_entry *placed = arena_array(arena, entries->count, sizeof *placed);
    Wire__Entry **sorted = arena_array(arena, entries->count, sizeof *sorted);
    if (placed == NULL || sorted == NULL)
        return err_set(err, -ENOMEM, "too many entries of a map");
    for (size_t i = 0; i < entries->count; i++)
        placed[i] = (struct placed_entry){entries->items[i], i};
    qsort(placed, entries->count, sizeof *placed, by_key_and_place);
    for (size_t i = 0; i < entries->count; i++) {
        if (kept > 0 && str_eq(wire_str(sorted[kept - 1]->key), wire_str(placed[i].entry->key)))
            kept--;
        sorted[kept++] = placed[i].entry;
    }
    *entries = (struct wire_entries){sorted, kept};
    return 0;
}
