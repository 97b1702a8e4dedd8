#include "policy/store.h"

#include "base/log.h"

static void listed(void *contents, uint32_t kind, enum informer_listing how) {
    struct err err;
    (void)kind; /* there is only one kind */
    if (how == LISTING_BEGINS)
        policy_live_begin(contents);
    else if (how == LISTING_FAILS)
        policy_live_abort(contents);
    else if (policy_live_end(contents, &err) != 0)
        LOG_E("policies of the API server are not in force", LOG_ERRTEXT(&err));
}

static int apply(void *contents, const struct informer_object *object, struct err *err) {
    return policy_live_apply(contents, object->json, err);
}

static int remove_policy(void *contents, const struct informer_object *gone, struct err *err) {
    return policy_live_remove(contents, gone->meta.name, err);
}

/* A policy that cannot be decoded is also kept, as a policy that cannot work. */
#define STORE(kind_table)                                                                          \
    {                                                                                              \
        .what = "policies", .kinds = (kind_table), .kind_count = 1,                                \
        .object_bytes = LIMIT_POLICY_BYTES, .listed = listed, .locks = true,                       \
    }
static const struct informer_kind kind = {
    .row = KIND_TOPOLOGY_POLICY, .apply = apply, .remove = remove_policy};
static const struct informer_kind hub_kind = {
    .row = KIND_PLACEMENT_POLICY, .apply = apply, .remove = remove_policy};
const struct informer_store policy_store = STORE(&kind);
const struct informer_store hub_policy_store = STORE(&hub_kind);
