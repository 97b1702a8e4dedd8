/*
 * Reads two facts from the API server: the selector of a custom controller, from its scale
 * subresource; and the maker of a unit, for a pod whose labels claim a unit (owners/chain.h). A
 * fact is read once and remembered for a while, also if there is nothing to read. Selectors of
 * Kubernetes' own controllers are not read, because the labels of their pods are known.
 *
 * Threads: any. A mutex guards the remembered facts, and is held only for one look or change. Their
 * number is limited (LIMIT_OWNERS); a namespace with many facts evicts its own (base/lru.h).
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

/* A fact about a controller that must be read. */
struct owner_wanted {
    struct owner_ref ref; /* name "": nothing must be read */
    bool unit;            /* read the maker of the controller's unit; otherwise the controller's
                             selector */
};

/* Could the controller have a selector to read? */
bool owner_is_custom(const struct owner_ref *ref);

/* `clock` is borrowed; NULL: the real clock. Returns 0 or -ENOMEM. owners_free() takes NULL. */
int owners_new(struct clock *clock, struct owners **ret, struct err *err) MUST_CHECK;
void owners_free(struct owners *o);

enum owner_knowledge { OWNER_UNKNOWN, OWNER_SELECTS_NOTHING, OWNER_SELECTS };
/* With OWNER_SELECTS, *ret is the selector in the form of a query parameter, in the arena. */
enum owner_knowledge owners_selector(struct owners *o, const struct owner_ref *ref,
                                     struct arena *arena, struct str *ret);

enum owner_unit {
    OWNER_UNIT_UNKNOWN, /* the maker must be read */
    OWNER_UNIT_UNREAD,  /* the maker could not be read a moment ago */
    OWNER_UNIT_NONE,    /* no owner makes units */
    OWNER_UNIT_MADE
};
/* Finds the maker of units above the controller, whose kind may be in a chain. With
 * OWNER_UNIT_MADE, *ret is the API group of the maker, in the arena; the controller's own group if
 * it makes units itself. */
enum owner_unit owners_unit(struct owners *o, const struct owner_ref *ref, struct arena *arena,
                            struct str *ret);

struct owner_question {
    struct owners *owners;
    struct kube_client *client;
    int64_t read_ms;       /* most time for all reads together */
    http_handler_fn *then; /* goes on with the request, whatever was found */
    const void *ctx;       /* context of `then`: copied, and freed after `then` has returned */
    size_t ctx_size;
};

/* Takes the request over, reads the wanted fact, and calls `then`. Returns false if the name is not
 * valid, too many facts are being read already, or without memory: then the caller must go on. */
bool owners_read(const struct owner_question *question, const struct http_request *request,
                 const struct owner_wanted *wanted) MUST_CHECK;

/* Calls `what` with each metric about these reads. */
void owners_metrics(void (*what)(struct metric *));
