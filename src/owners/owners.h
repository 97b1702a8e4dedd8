/*
 * What controllers of custom kinds select, by their scale subresource, and who stands behind those
 * of pods that say that they are of a unit (owners/chain.h): read once from the API server and
 * remembered for a while, also that there is nothing to be read. What Kubernetes' own controllers
 * select need not be read: what their pods' labels mean is known.
 *
 * Threads: any. What is remembered is guarded by a mutex that is held for one look or change. It is
 * bounded (LIMIT_OWNERS), and a namespace that asks for much forgets its own (base/lru.h).
 */
#pragma once

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "http/http.h"
#include "kube/client/client.h"

struct metric;
struct owners;

/* A controller, as an ownerReference names it. */
struct owner_ref {
    struct str namespace, api, kind, name; /* api: "example.com/v1" */
};

/* What ought to be read of a controller. */
struct owner_wanted {
    struct owner_ref ref; /* name "": nothing */
    bool unit;            /* who stands behind it; otherwise what it selects */
};

/* Could it have a selector to read? */
bool owner_is_custom(const struct owner_ref *ref);

/* `clock` is borrowed; NULL: the real one. 0 or -ENOMEM; free takes NULL. */
int owners_new(struct clock *clock, struct owners **ret, struct err *err) MUST_CHECK;
void owners_free(struct owners *o);

enum owner_knowledge { OWNER_UNKNOWN, OWNER_SELECTS_NOTHING, OWNER_SELECTS };
/* With OWNER_SELECTS, *ret is its selector as a query has them, in the arena. */
enum owner_knowledge owners_selector(struct owners *o, const struct owner_ref *ref,
                                     struct arena *arena, struct str *ret);

enum owner_unit {
    OWNER_UNIT_UNKNOWN, /* it is to be read */
    OWNER_UNIT_UNREAD,  /* it could not be read a moment ago */
    OWNER_UNIT_NONE,    /* nobody who makes units */
    OWNER_UNIT_MADE
};
/* Who stands behind the controller, which is of a kind that may be in a chain. With
 * OWNER_UNIT_MADE, *ret is the API group of the object that does, in the arena; its own, if it
 * makes units itself. */
enum owner_unit owners_unit(struct owners *o, const struct owner_ref *ref, struct arena *arena,
                            struct str *ret);

struct owner_question {
    struct owners *owners;
    struct kube_client *client;
    int64_t read_ms;       /* how long reading may take in all */
    http_handler_fn *then; /* goes on with the request, whatever was found */
    const void *ctx;       /* its context: a copy, until it returns */
    size_t ctx_size;
};

/* Takes the request over, reads what is wanted, and goes on. False: the caller is to go on, for its
 * name cannot be one, too much is being read already, or there is no memory. */
bool owners_read(const struct owner_question *question, const struct http_request *request,
                 const struct owner_wanted *wanted) MUST_CHECK;

/* Does this with each metric of reading. */
void owners_metrics(void (*what)(struct metric *));
