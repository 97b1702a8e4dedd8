#include "controllers/policy_status.h"

#include "base/log.h"
#include "kube/client/path.h"
#include "model/kinds.h"
#include "policy/count.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LOOK_MS = 1000,  /* how often it is looked for what is wrong */
    PACE_MS = 200,   /* between two writes */
    AGAIN_MS = 5000, /* between two of one policy */
    RECOUNT_MS = 60000,
    REFUSED_MS = 60000,
    REQUEST_MS = 10000,
    BODY_BYTES = 64 << 10,
};

struct policy_reporter {
    struct policy_reporter_options options;
    struct kube_io io;
    struct kube_request request;
    struct kube_timer timer;
    struct strbuf body;
    char path[384], name[254];
    struct policy_count *count; /* NULL: pods are not counted */
    int64_t count_at_ms;        /* when the next round begins, or goes on */
    bool refused;               /* the last write was, and that was logged */
    bool stopped;
};

static int64_t now_ms(const struct policy_reporter *r) {
    return r->options.clock->now_ms(r->options.clock);
}

/* For how long we may write. */
static int64_t leads_for_ms(const struct policy_reporter *r) {
    if (r->options.elector == NULL)
        return REQUEST_MS;
    int64_t left_ms = elector_remaining_ms(r->options.elector);
    return left_ms < REQUEST_MS ? left_ms : REQUEST_MS;
}

/* How long after the last write another one is needed; -1: none is. */
static int64_t needs_writing(const struct policy_status *status, const struct policy *policy,
                             int64_t matched) {
    if (status->generation <= 0 || !kube_path_segment(policy->name))
        return -1; /* it was not read, or is none */
    if (!policy_status_is_right(status, policy))
        return AGAIN_MS;
    return matched >= 0 && matched != status->matched ? RECOUNT_MS : -1;
}

/* Prepares the request for the first policy that needs one: false then. */
static bool look_at(void *ctx, const struct policy *policy, const struct policy_status *status,
                    int64_t *note) {
    struct policy_reporter *r = ctx;
    char now[KUBE_TIME_SIZE], policies[KIND_PATH_SIZE];
    int64_t matched = r->count != NULL ? policy_count_of(r->count, policy->name) : -1;
    int64_t after_ms = needs_writing(status, policy, matched);
    if (after_ms < 0 || (*note != INT64_MIN && now_ms(r) - *note < after_ms))
        return true;
    *note = now_ms(r);
    kube_time_text(r->io.wall_us(), now);
    (void)snprintf(now + 19, sizeof now - 19, "Z"); /* metav1.Time has whole seconds */
    strbuf_clear(&r->body);
    policy_status_patch(status, policy, matched, str_of(now), &r->body);
    if (strbuf_failed(&r->body))
        return true;                                                        /* tried again later */
    (void)snprintf(r->name, sizeof r->name, "%.*s", STR_ARG(policy->name)); /* fits */
    kind_path(&watched_kinds[KIND_TOPOLOGY_POLICY], policies);
    (void)snprintf(r->path, sizeof r->path, "%s/%s/status?fieldManager=evenkeel", policies,
                   r->name); /* fits */
    return false;
}

static void look_again(struct policy_reporter *r, int64_t in_ms) {
    r->io.timer_start(r->options.client, &r->timer, in_ms);
}

static void count_pods(struct policy_reporter *r) {
    if (r->count != NULL && cache_ready(r->options.cache) && now_ms(r) >= r->count_at_ms &&
        policy_count_step(r->count))
        r->count_at_ms = now_ms(r) + RECOUNT_MS;
}

static void look(void *ctx) {
    struct policy_reporter *r = ctx;
    int64_t for_ms = leads_for_ms(r);
    r->path[0] = '\0';
    if (for_ms > 0) {
        count_pods(r);
        policy_live_each(r->options.policies, look_at, r);
    }
    if (r->path[0] == '\0') {
        look_again(r, LOOK_MS);
        return;
    }
    r->request.body = strbuf_str(&r->body);
    r->request.timeout_ms = for_ms;
    r->io.request_start(r->options.client, &r->request);
}

static void on_done(void *ctx, const struct kube_result *result) {
    struct policy_reporter *r = ctx;
    if (r->stopped)
        return;
    bool good = result->error == 0 && (result->status < 300 || result->status == 404);
    bool refused = result->error == 0 && (result->status == 401 || result->status == 403);
    if (!good && !(refused && r->refused))
        LOG_W("the status of a policy was not written", LOG_CSTR("policy", r->name),
              LOG_INT("status", result->status), LOG_CSTR("err", result->error_text));
    r->refused = refused;
    look_again(r, refused ? REFUSED_MS : PACE_MS);
}

int policy_reporter_start(const struct policy_reporter_options *options,
                          struct policy_reporter **ret, struct err *err) {
    struct policy_reporter *r = calloc(1, sizeof *r);
    if (r == NULL)
        return err_set(err, -ENOMEM, "no memory to report on policies");
    r->options = *options;
    if (r->options.clock == NULL)
        r->options.clock = clock_real();
    r->io = kube_io_or_real(options->io);
    if (options->cache != NULL) {
        r->count = policy_count_new(options->policies, options->cache);
        r->count_at_ms = INT64_MIN;
    }
    if (options->cache != NULL && r->count == NULL) {
        free(r);
        return err_set(err, -ENOMEM, "no memory to report on policies");
    }
    r->body.max = BODY_BYTES;
    r->timer = (struct kube_timer){.fn = look, .ctx = r};
    r->request = (struct kube_request){.method = "PATCH",
                                       .path = r->path,
                                       .content_type = "application/merge-patch+json",
                                       .on_done = on_done,
                                       .ctx = r};
    *ret = r;
    look_again(r, 0);
    return 0;
}

static void stop(void *ctx) {
    struct policy_reporter *r = ctx;
    r->stopped = true;
    r->io.request_cancel(r->options.client, &r->request);
    r->io.timer_cancel(r->options.client, &r->timer);
}

void policy_reporter_free(struct policy_reporter *r) {
    if (r == NULL)
        return;
    r->io.run(r->options.client, stop, r);
    policy_count_free(r->count);
    strbuf_done(&r->body);
    free(r);
}
