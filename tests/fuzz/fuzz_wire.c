/*
 * Any bytes as each message of Karmada's estimator. What can be read is written in every epoch, and
 * that can be read again, to the same JSON and the same bytes; what the estimator decodes can be
 * written, too. The first byte says which message.
 */
#include "fuzz/fuzz.h"

#include "base/arena.h"
#include "estimator/wire.h"

#include <errno.h>

enum { ARENA_BYTES = 16 << 20, STEPS = 1000000 };

static const char *const names[] = {
    "MaxAvailableReplicasRequest",
    "MaxAvailableReplicasResponse",
    "MaxAvailableComponentSetsRequest",
    "UnschedulableReplicasRequest",
    "ReplicaRequirements",
    "Component",
    "AssumedWorkload",
    "NodeClaim",
    "NodeSelector",
    "Toleration",
    "Quantity",
};

static int rewrite(const struct wire_kind *kind, struct str bytes, enum wire_epoch epoch,
                   struct strbuf *json, struct strbuf *out) {
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, ARENA_BYTES);
    arena.steps.max = STEPS;
    const int r = wire_rewrite(kind, bytes, epoch, &arena, json, out, &err);
    require((r == 0) == (err.code == 0));
    arena_done(&arena);
    return r;
}

static void check_json(struct str text) {
    struct json_reader r;
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    json_reader_init(&r, text, &arena, "message");
    (void)json_skip(&r); /* only that it is JSON */
    require(json_finish(&r, NULL) == 0);
    arena_done(&arena);
}

static bool decodes(size_t which, struct str bytes) {
    struct arena arena;
    struct wire_replicas replicas;
    struct wire_sets sets;
    struct wire_unschedulable unschedulable;
    arena_init(&arena, ARENA_BYTES);
    arena.steps.max = STEPS;
    const int r = which == 0   ? wire_replicas_decode(bytes, &arena, &replicas, NULL)
                  : which == 2 ? wire_sets_decode(bytes, &arena, &sets, NULL)
                  : which == 3 ? wire_unschedulable_decode(bytes, &arena, &unschedulable, NULL)
                               : -ENOENT; /* the estimator reads no others */
    arena_done(&arena);
    return r == 0;
}

static int try_input(const uint8_t *bytes, size_t n) {
    const char *near;
    if (n == 0)
        return 0;
    const size_t which = bytes[0] % (sizeof names / sizeof names[0]);
    const struct wire_kind *kind = wire_kind_find(str_of(names[which]), &near);
    const struct str text = {(const char *)bytes + 1, n - 1};
    const bool decoded = decodes(which, text);
    for (int epoch = WIRE_MESSAGES; epoch <= WIRE_BYTES; epoch++) {
        struct strbuf json = {0}, out = {0}, json_again = {0}, out_again = {0};
        const int r = rewrite(kind, text, (enum wire_epoch)epoch, &json, &out);
        require(r == 0 || !decoded || r == -ENOMEM || r == -E2BIG);
        if (r == 0) {
            check_json(strbuf_str(&json));
            require(rewrite(kind, strbuf_str(&out), (enum wire_epoch)epoch, &json_again,
                            &out_again) == 0);
            require(str_eq(strbuf_str(&out), strbuf_str(&out_again)));
        }
        strbuf_done(&json);
        strbuf_done(&out);
        strbuf_done(&json_again);
        strbuf_done(&out_again);
    }
    return 0;
}
