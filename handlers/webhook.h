/*
 * The endpoints that API servers call while objects are admitted: one file each. `ctx` of every
 * handler is a struct webhook.
 *
 * What they answer when something is wrong: a request that is no review gets status 400 and a
 * sentence that names what and where. Everything else is allowed, with a warning to the user: no
 * object is held up because we are unwell.
 */
#pragma once

#include "admit/fluid_source.h"
#include "admit/pods.h"
#include "admit/policies.h"
#include "cache/cache.h"
#include "explain/recording.h"
#include "http/http.h"

struct webhook {
    struct cache *cache;
    struct policy_source *policies;
    struct fluid_source *fluid; /* NULL: nothing is known of data */
    bool annotate;              /* pods say by what they were changed */
    struct ring *decisions;     /* NULL: they are not recorded */
};

void webhook_pods(void *ctx, const struct http_request *request, struct http_response *response);

/* What becomes of a new pod, and what that was found from: held until it is done with. */
struct webhook_admission {
    struct policies *policies;
    struct fluid_set *data;
    enum admission result;
    struct patch patch;
    struct review_answer answer; /* names a policy, so it lives as long */
};
/* By the policies in force or, if `instead` is not NULL, by these, which are sorted: then
 * webhook->policies is not looked at. */
struct policy_list {
    const struct policy *items;
    uint32_t count;
};
void webhook_admit(const struct webhook *webhook, const struct review *review,
                   const struct policy_list *instead, struct arena *arena,
                   struct webhook_admission *ret);
void webhook_admission_done(struct webhook_admission *a);

/* What a decision about a new pod says of it, without verb and times. Strings live in the review,
 * the answer or the arena. */
struct webhook_pod {
    struct object_meta meta; /* namespace, name and uid, as far as it has them */
    struct str generate_name;
};
void webhook_pod_of(const struct review *review, struct arena *arena, struct webhook_pod *ret);
void webhook_tell(const struct webhook_admission *a, struct decision_about *about);

/* Registers, or takes out, the metrics of the endpoints. */
void webhook_metrics_start(void);
void webhook_metrics_stop(void);
