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
#include "kube/client.h"

struct webhook {
    struct cache *cache;
    struct policy_source *policies;
    struct fluid_source *fluid; /* NULL: nothing is known of data */
    bool annotate;              /* pods say by what they were changed */
    struct ring *decisions;     /* NULL: they are not recorded */
    struct kube_client *client; /* asked for what watches have not brought yet; NULL: nobody is */
    int64_t read_ms;            /* how long that may take in all; 0: it is not asked */
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
struct policy_list {
    const struct policy *items;
    uint32_t count;
};
/* What a review is answered by besides what the webhook knows. Zeroed: nothing. */
struct webhook_inputs {
    const struct policy_list *instead; /* of the policies in force; sorted; NULL: those in force */
    struct fluid_store *found;     /* objects of Fluid's that only this review goes by, or NULL */
    struct fluid_missing *missing; /* filled with what of Fluid's was looked up in vain, or NULL */
};
void webhook_admit(const struct webhook *webhook, const struct review *review,
                   const struct webhook_inputs *inputs, struct arena *arena,
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

/* Registers, or takes out, the metrics of the endpoints and of what they look up. */
void webhook_metrics_start(void);
void webhook_metrics_stop(void);
