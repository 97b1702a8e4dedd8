#include "cli/explain_pod.h"

#include "base/limits.h"
#include "kube/client/get.h"

#include <errno.h>
#include <stdio.h>

enum {
    CONNECTION_MS = 1500,
    PLUGIN_NOTICE_MS = 2000,
    PLUGIN_MS = 600000,
};

static void wait_for_pod(struct kube_get *get, const struct kube_access *access,
                         const struct explained_pod_wait *wait) {
    CLEANUP(strbuf_done) struct strbuf why = {.max = ERR_TEXT_SIZE};
    if (access->exec.command != NULL && !kube_get_wait_credentials(get, PLUGIN_NOTICE_MS)) {
        fprintf(stderr, "evenkeel explain: waiting for the credential plugin '%s' of %s\n",
                access->exec.command, access->source);
        (void)kube_get_wait_credentials(get, PLUGIN_MS); /* kube_get_end() has the error */
    }
    if (kube_get_wait(get, CONNECTION_MS) || kube_get_stage(get) != KUBE_STAGE_ANSWER)
        return;
    strbuf_appendf(&why, "%s: ", access->server);
    kube_get_say_late(get, &why);
    strbuf_append_char(&why, '\0');
    if (!strbuf_failed(&why))
        wait->on_slow(wait->ctx, why.p);
    (void)kube_get_wait(get, wait->timeout_ms); /* kube_get_end() has the error */
}

int explained_pod_read(const struct kube_access *access, const struct subject *subject,
                       const struct explained_pod_wait *wait, struct arena *arena, struct str *ret,
                       struct err *err) {
    CLEANUP(kube_client_cleanup) struct kube_client *client = NULL;
    CLEANUP(strbuf_done) struct strbuf path = {.max = 4096}, body = {.max = LIMIT_OPS_BODY};
    struct kube_access patient = *access;
    struct kube_get get;
    int status = 0;
    patient.exec.limit_ms = PLUGIN_MS;
    strbuf_appendf(&path, "/api/v1/namespaces/%.*s/pods/%.*s", STR_ARG(subject->namespace),
                   STR_ARG(subject->name));
    strbuf_append_char(&path, '\0');
    int r = strbuf_failed(&path) ? err_set(err, -ENOMEM, "no memory for the request")
                                 : kube_client_new(&patient, NULL, &client, err);
    if (r == 0) {
        kube_get_start(&get, client, path.p, PLUGIN_MS, wait->timeout_ms, &body);
        wait_for_pod(&get, access, wait);
        r = kube_get_end(&get, &status, err);
    }
    if (r != 0)
        return err_wrap(err, "%s", access->server);
    if (status == 404)
        return err_set(err, -ENOENT, "%s has no such pod", access->server);
    if (status != 200)
        return err_set(err, -EIO, "%s answered with status %d", access->server, status);
    *ret = arena_str(arena, strbuf_str(&body));
    return arena_failed(arena) ? err_set(err, -ENOMEM, "no memory for the pod") : 0;
}
