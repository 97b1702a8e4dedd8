#include "estimators/estimators.h"

#include "base/mutex.h"
#include "base/sorted.h"
#include "estimator/wire.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

struct entry {
    char *cluster; /* owned */
    struct grpc_peer *peer;
};

struct estimators {
    struct grpc_dialer *dialer;
    struct clock *clock;
    struct mutex lock;     /* guards the members below */
    struct entry *entries; /* sorted by cluster, each cluster once; owned */
    uint32_t count, cap;
};

/* A question under way. Each answer has one writer, and the last one calls `done`. */
struct asking {
    _Atomic uint32_t left; /* number of missing answers, + 1 until all estimators are asked */
    estimators_done_fn *done;
    void *ctx;
    uint32_t count;
    int64_t *answers; /* [count]; memory behind this struct, like the next member */
    struct slot {
        struct asking *asking;
        uint32_t index;
    } * slots;
};

/* ---- the clusters ---- */

static struct str cluster_name(const void *entries, size_t i) {
    return str_of(((const struct entry *)entries)[i].cluster);
}

static size_t find_entry(const struct estimators *e, struct str cluster, bool *ret_found) {
    return sorted_place(e->entries, e->count, cluster_name, cluster, ret_found);
}

int estimators_new(struct grpc_dialer *dialer, struct clock *clock, struct estimators **ret,
                   struct err *err) {
    struct estimators *e = calloc(1, sizeof *e);
    if (e == NULL)
        return err_set(err, -ENOMEM, "no memory for estimators");
    e->dialer = dialer;
    e->clock = clock;
    mutex_init(&e->lock);
    *ret = e;
    return 0;
}

void estimators_free(struct estimators *e) {
    if (e == NULL)
        return;
    for (size_t i = 0; i < e->count; i++)
        free(e->entries[i].cluster); /* the dialer has freed the peers */
    free(e->entries);
    mutex_done(&e->lock);
    free(e);
}

/* Inserts an estimator at `at`. The lock is held. */
static int insert(struct estimators *e, size_t at, struct str cluster, const char *const *addresses,
                  size_t count, struct err *err) {
    struct entry entry = {.cluster = str_dup(cluster)};
    int r = entry.cluster != NULL ? grpc_peer_add(e->dialer, addresses, count, &entry.peer, err)
                                  : err_set(err, -ENOMEM, "no memory for estimators");
    if (r == 0 && !sorted_insert(&e->entries, &e->count, &e->cap, sizeof entry, at, &entry)) {
        grpc_peer_remove(entry.peer);
        r = err_set(err, -ENOMEM, "no memory for estimators");
    }
    if (r != 0)
        free(entry.cluster);
    return r;
}

int estimators_add(struct estimators *e, struct str cluster, const char *const *addresses,
                   size_t count, struct err *err) {
    bool found;
    mutex_lock(&e->lock);
    const size_t at = find_entry(e, cluster, &found);
    const int r = found ? 0 : insert(e, at, cluster, addresses, count, err);
    mutex_unlock(&e->lock);
    return r;
}

void estimators_remove(struct estimators *e, struct str cluster) {
    bool found;
    mutex_lock(&e->lock);
    const size_t at = find_entry(e, cluster, &found);
    if (found) {
        grpc_peer_remove(e->entries[at].peer);
        free(e->entries[at].cluster);
        sorted_remove(e->entries, &e->count, sizeof *e->entries, at);
    }
    mutex_unlock(&e->lock);
}

bool estimators_report(struct estimators *e, struct str cluster, struct grpc_peer_report *ret) {
    bool found;
    mutex_lock(&e->lock);
    const size_t at = find_entry(e, cluster, &found);
    if (found)
        grpc_peer_report(e->entries[at].peer, ret);
    mutex_unlock(&e->lock);
    return found;
}

/* ---- questions ---- */

static struct asking *new_asking(uint32_t count, estimators_done_fn *done, void *ctx) {
    struct asking *a = calloc(1, sizeof *a + count * (sizeof *a->answers + sizeof *a->slots));
    if (a == NULL)
        return NULL;
    a->left = count + 1;
    a->done = done;
    a->ctx = ctx;
    a->count = count;
    a->slots = (struct slot *)(a + 1);
    a->answers = (int64_t *)(void *)(a->slots + count);
    for (uint32_t i = 0; i < count; i++) {
        a->slots[i] = (struct slot){a, i};
        a->answers[i] = ESTIMATE_UNKNOWN;
    }
    return a;
}

static void answer_is_there(struct asking *a) {
    if (atomic_fetch_sub(&a->left, 1) != 1)
        return;
    a->done(a->ctx, a->answers, a->count);
    free(a);
}

static void take_reply(void *ctx, const struct grpc_reply *reply) {
    const struct slot *slot = ctx;
    int32_t replicas;
    if (reply->status == GRPC_OK && wire_response_decode(reply->message, &replicas) &&
        replicas >= 0)
        slot->asking->answers[slot->index] = replicas;
    answer_is_there(slot->asking);
}

/* Returns false if there will be no reply. The lock is held, so that the peer stays. */
static bool ask_one(struct estimators *e, const struct estimators_question *q, uint32_t i,
                    struct strbuf *message, struct slot *slot) {
    struct err unsaid; /* not used: the answer is "unknown" */
    bool found;
    const size_t at = find_entry(e, q->clusters[i], &found);
    if (!found)
        return false;
    strbuf_clear(message);
    wire_replicas_ask(q->clusters[i], q->requirements, message);
    const struct grpc_call_request request = {.path = STR(WIRE_SERVICE "MaxAvailableReplicas"),
                                              .object = q->object,
                                              .message = strbuf_str(message),
                                              .deadline_ms = q->deadline_ms};
    return !strbuf_failed(message) &&
           grpc_peer_call(e->entries[at].peer, &request, take_reply, slot, &unsaid) == 0;
}

int estimators_ask(struct estimators *e, const struct estimators_question *q,
                   estimators_done_fn *done, void *ctx, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf message = {.max = LIMIT_GRPC_MESSAGE};
    struct asking *a = new_asking(q->count, done, ctx);
    if (a == NULL)
        return err_set(err, -ENOMEM, "no memory to ask estimators");
    mutex_lock(&e->lock);
    for (uint32_t i = 0; i < q->count; i++)
        if (!ask_one(e, q, i, &message, &a->slots[i]))
            answer_is_there(a);
    mutex_unlock(&e->lock);
    answer_is_there(a);
    return 0;
}
