#include "handlers/ops.h"

#include "kube/election/elector.h"

static void say(struct http_response *response, bool good, const char *what, const char *how) {
    strbuf_appendf(&response->text, "[%s] %s: %s\n", good ? "+" : "-", what, how);
}

void ops_readyz(void *ctx, const struct http_request *request, struct http_response *response) {
    struct ops *ops = ctx;
    (void)request;
    bool synced = cache_ready(ops->cache), draining = atomic_load(&ops->draining);
    bool leads = ops->elector == NULL || elector_leads(ops->elector);
    bool certified = ops->has_certificate == NULL || atomic_load(ops->has_certificate);
    bool unlisted = atomic_load(&ops->unlisted);
    int64_t age_ms = cache_age_ms(ops->cache);
    http_answer_text(response, synced && leads && certified && !unlisted && !draining ? 200 : 503,
                     "[%s] state: %s", synced ? "+" : "-",
                     synced ? "read" : "not read yet; see the log");
    if (unlisted)
        say(response, false, "webhook", "policies or Fluid's objects are not listed yet");
    if (age_ms > ops->stale_after_ms && ops->stale_after_ms > 0)
        say(response, true, "age", "stale: answers are no opinion until the API server is heard");
    if (ops->elector != NULL)
        say(response, leads, "leader", leads ? "this one" : "another one, or none yet");
    if (ops->has_certificate != NULL)
        say(response, certified, "certificate",
            certified ? "the webhook has one" : "the webhook has none yet; see the log");
    say(response, !draining, "shutdown", draining ? "under way" : "not asked for");
}
