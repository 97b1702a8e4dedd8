/*
 * evenkeel give-back: gives the Placements that Evenkeel decides back to Open Cluster Management,
 * before Evenkeel is uninstalled. It changes their mode annotation, so that the running Evenkeel
 * leaves them. If no Evenkeel runs, this command removes the marks itself, except from Placements
 * with marks of mode Scores.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/json_reader.h"
#include "base/limits.h"
#include "cli/commands.h"
#include "kube/auth/access.h"
#include "kube/client/list.h"
#include "model/ocm.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ROUND_MS =
        1000, /* pause between two rounds, plus the time that a round took: lists may be long */
    ALONE_MS = 20000, /* if no Placement was given back for so long, no Evenkeel runs */
    TIMEOUT_MS = 120000,
    TIMEOUT_MOST_S = 3600,
    NAMED = 10, /* number of Placements that a message names */
};

#define PLACEMENTS_PATH "/apis/" OCM_GROUP "/v1beta1/placements"

enum { SPEC_KUBECONFIG, SPEC_CONTEXT, SPEC_TIMEOUT };

static const struct option_spec specs[] = {
    [SPEC_KUBECONFIG] = {"kubeconfig", 0, "FILE",
                         "of the hub; default: as kubectl, or in a cluster its API server"},
    [SPEC_CONTEXT] = {"context", 0, "NAME", "of the kubeconfig; default: its current one"},
    [SPEC_TIMEOUT] = {"timeout", 0, "DURATION", "for all Placements: 2m"},
};

const struct command give_back_command = {
    .name = "give-back",
    .usage = "[options]",
    .about =
        "Gives the Placements of a hub that Evenkeel decides back to Open Cluster Management,\n"
        "before Evenkeel is uninstalled. Sets their annotation " PLACEMENT_MODE_ANNOTATION "\n"
        "to Off, and waits until the running Evenkeel has removed its marks. If none is removed\n"
        "for 20 s, no Evenkeel runs, and the command removes the marks of mode Owner itself.\n"
        "Their decisions stay as they are. The chart does this on 'helm uninstall'.\n"
        "Exit codes: 0 all are given back, 1 some are not, 2 wrong usage.",
    .example = "evenkeel give-back --timeout 5m && helm uninstall evenkeel --namespace evenkeel",
    .specs = specs,
    .spec_count = sizeof specs / sizeof specs[0],
};

static int fail(const char *why) {
    (void)fprintf(stderr, "evenkeel give-back: %s\n", why); /* nowhere to report to */
    return EXIT_FAILURE;
}

/* ---- a Placement ---- */

/* A listing of all Placements, and the patches that follow from it. */
struct round {
    struct kube_client *client;
    bool alone;         /* no Evenkeel runs: the marks are removed here */
    uint32_t count;     /* number of Placements that are not given back yet */
    uint32_t scored;    /* number of these Placements with marks of mode Scores */
    struct strbuf left; /* their names: "shop/web, shop/api" */
    struct err refused; /* the last patch that failed; code 0: none */
};

static void round_done(struct round *x) {
    strbuf_done(&x->left);
}

static void patch(struct round *x, const struct placement *p, const char *annotations) {
    CLEANUP(strbuf_done) struct strbuf path = {.max = 1024}, body = {.max = 1024};
    CLEANUP(strbuf_done) struct strbuf answer = {.max = LIMIT_KUBE_BODY};
    int status = 0;
    strbuf_appendf(&path, "/apis/" OCM_GROUP "/v1beta1/namespaces/%.*s/placements/%.*s",
                   STR_ARG(p->meta.namespace), STR_ARG(p->meta.name));
    strbuf_append_char(&path, '\0');
    strbuf_appendf(&body, "{\"metadata\":{\"annotations\":{%s}}}", annotations);
    int r = strbuf_failed(&path) || strbuf_failed(&body)
                ? err_set(&x->refused, -ENOMEM, "no memory for a patch")
                : kube_merge(x->client, path.p, strbuf_str(&body), &answer, &status, &x->refused);
    if (r == 0 && status != 200 && status != 404)
        (void)err_set(&x->refused, -EIO, "%.*s/%.*s: the API server answers with status %d",
                      STR_ARG(p->meta.namespace), STR_ARG(p->meta.name), status);
}

static void note_left(struct round *x, const struct placement *p, bool is_scored) {
    if (x->count++ < NAMED)
        strbuf_appendf(&x->left, "%s%.*s/%.*s", x->count > 1 ? ", " : "",
                       STR_ARG(p->meta.namespace), STR_ARG(p->meta.name));
    x->scored += is_scored;
}

static void look_at(struct round *x, const struct placement *p) {
    struct str value, mode = STR("");
    const bool owned = labels_lookup(&p->annotations, STR(PLACEMENT_DISABLED_ANNOTATION), &value);
    const bool scored = labels_lookup(&p->annotations, STR(PLACEMENT_INJECTED_ANNOTATION), &value);
    (void)labels_lookup(&p->annotations, STR(PLACEMENT_MODE_ANNOTATION), &mode); /* "" then */
    if (p->meta.terminating || (!owned && !scored))
        return;
    note_left(x, p, scored);
    if (!str_eq(mode, STR("Off")))
        patch(x, p, "\"" PLACEMENT_MODE_ANNOTATION "\":\"Off\"");
    else if (x->alone && owned && !scored)
        patch(x, p,
              "\"" PLACEMENT_DISABLED_ANNOTATION "\":null,\"" PLACEMENT_DISABLE_ANNOTATION
              "\":null");
}

/* ---- a round ---- */

static int read_item(struct round *x, struct str json, struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    struct placement placement;
    struct json_reader r;
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    json_reader_init(&r, json, &arena, PLACEMENT_KIND);
    placement_decode_as(&r, (struct placement_reading){.is_outline = true, .is_stored = true},
                        &placement);
    int failed = json_finish(&r, err);
    if (failed == 0)
        look_at(x, &placement);
    return failed;
}

static int read_page(void *ctx, struct strbuf *page, struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    struct json_reader r;
    struct str key;
    int failed = 0;
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    json_reader_init(&r, strbuf_str(page), &arena, "PlacementList");
    if (json_object(&r))
        while (json_member(&r, &key))
            if (str_eq(key, STR("items")) && json_array(&r))
                while (json_element(&r)) {
                    const struct str item = json_skip(&r);
                    failed = failed == 0 && item.n > 0 ? read_item(ctx, item, err) : failed;
                }
    return failed == 0 ? json_finish(&r, err) : failed;
}

/* Returns 0 if the Placements were listed. */
static int go_round(struct round *x, struct err *err) {
    const struct kube_listing all = {.path = PLACEMENTS_PATH};
    int status = 0;
    int r = kube_list(x->client, &all, read_page, x, &status, err);
    if (r == 0 && status != 200 && status != 404) /* 404: the kind does not exist */
        r = err_set(err, -EIO, "the API server answers with status %d to a list of Placements",
                    status);
    if (r == 0 && x->refused.code != 0)
        *err = x->refused;
    return r;
}

static int fail_of(const struct round *x, const struct err *err) {
    CLEANUP(strbuf_done) struct strbuf why = {.max = 8192};
    if (x->count > 0)
        strbuf_appendf(&why, "%u Placements are not given back: %.*s%s", x->count,
                       STR_ARG(strbuf_str(&x->left)), x->count > NAMED ? ", ..." : "");
    if (x->scored > 0)
        strbuf_appendf(&why,
                       "; %u of them have marks of mode Scores, which only a running Evenkeel "
                       "or the commands of docs/guides/ocm.md remove",
                       x->scored);
    if (err->code != 0)
        strbuf_appendf(&why, "%s%s", why.n > 0 ? "; " : "", err->text);
    strbuf_append_char(&why, '\0');
    return fail(strbuf_failed(&why) ? "no memory for the reason" : why.p);
}

static int give_back(struct kube_client *client, int64_t timeout_ms) {
    struct clock *clock = clock_real();
    const int64_t began_ms = clock->now_ms(clock);
    int64_t changed_ms = began_ms; /* time of the last change of that number */
    uint32_t count = 0, most = 0;
    for (;;) {
        CLEANUP(round_done) struct round x = {.client = client, .left.max = 8192};
        struct err err = {0};
        const int64_t now_ms = clock->now_ms(clock);
        x.alone = now_ms - changed_ms >= ALONE_MS;
        const int r = go_round(&x, &err);
        if (r == 0 && x.count == 0) {
            printf("%u Placements are given back to Open Cluster Management\n", most);
            return fflush(stdout) == 0 ? EXIT_SUCCESS : fail("cannot write to standard output");
        }
        if (x.count != count)
            changed_ms = now_ms;
        count = x.count;
        most = count > most ? count : most;
        if (clock->now_ms(clock) - began_ms >= timeout_ms)
            return fail_of(&x, &err);
        const int64_t took_ms = clock->now_ms(clock) - now_ms;
        (void)poll(NULL, 0, (int)(ROUND_MS + took_ms)); /* a shorter wait does no harm */
    }
}

/* ---- the command line ---- */

struct request {
    const char *kubeconfig, *context;
    int64_t timeout_ms;
};

static int run(const struct request *request) {
    CLEANUP(arena_done) struct arena arena; /* the client's access is in it */
    CLEANUP(kube_client_cleanup) struct kube_client *client = NULL;
    struct kube_access access;
    struct err err;
    arena_init(&arena, LIMIT_CONFIG_BYTES);
    int r = kube_access_of_command(request->kubeconfig, request->context, &arena, &access, &err);
    if (r == 0)
        r = kube_client_new(&access, NULL, &client, &err);
    return r == 0 ? give_back(client, request->timeout_ms) : fail(err.text);
}

int cmd_give_back(int argc, char **argv) {
    struct options o;
    struct option_value v;
    struct request request = {.timeout_ms = TIMEOUT_MS};
    options_init(&o, &give_back_command, argc, argv);
    while (options_next(&o, &v)) {
        if (v.spec == &specs[SPEC_KUBECONFIG])
            request.kubeconfig = v.text;
        else if (v.spec == &specs[SPEC_CONTEXT])
            request.context = v.text;
        else if (v.spec == &specs[SPEC_TIMEOUT])
            options_read_duration(&o, "timeout", v.text, TIMEOUT_MOST_S, &request.timeout_ms);
        else
            options_fail(&o, "unexpected argument '%s'", v.text);
    }
    return o.stopped ? o.exit_status : run(&request);
}
