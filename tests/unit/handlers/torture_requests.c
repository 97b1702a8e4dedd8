#include "unit/handlers/torture.h"

#include <stdio.h>

/* ---- requests ---- */

const char *const torture_verb_names[VERBS] = {
    "filter",  "filter of whole nodes", "prioritize", "preempt", "admit",
    "explain", "explain of a pod",      "what if"};
#define NODE(name) "{\"metadata\":{\"name\":\"" name "\"},\"kept\":[1,2]}"

static const struct {
    http_handler_fn *handle;
    const char *before, *after; /* the texts before and after the pod */
} verbs[VERBS] = {
    [FILTER] = {extender_filter,
                "{\"Pod\":", ",\"NodeNames\":[\"a\",\"b\",\"x\",\"\\u0079\",\"nowhere\",\"c\"]}"},
    [FILTER_NODES] = {extender_filter, "{\"Pod\":",
                      ",\"Nodes\":{\"items\":[" NODE("a") "," NODE("x") "," NODE("c") "," NODE(
                          "y") "]}}"},
    [PRIORITIZE] = {extender_prioritize,
                    "{\"Pod\":", ",\"NodeNames\":[\"a\",\"b\",\"x\",\"\\u0079\",\"nowhere\"]}"},
    [PREEMPT] = {extender_preempt, "{\"Pod\":",
                 ",\"NodeNameToMetaVictims\":{\"a\":{\"Pods\":[{\"UID\":\"u0\"}]},\"\\u0078\":{"
                 "\"Pods\":[],\"NumPDBViolations\":2},\"c\":{\"Pods\":[]}}}"},
    [ADMIT] = {webhook_review,
               "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{"
               "\"uid\":\"\\u0031\",\"operation\":\"CREATE\",\"namespace\":\"default\","
               "\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},\"object\":",
               "}}"},
    [RECENT] = {explain_decisions, "", ""},
    [OF_POD] = {explain_pod, "", ""},
    [WHAT_IF] = {explain_what_if, "{\"pod\":", ",\"nodeNames\":[\"a\",\"b\",\"x\",\"\\u0079\"]}"},
};

/* In a what-if, the pod has no uid, because a what-if skips a pod that exists. */
void torture_write_body(struct torture_scenario *s) {
    static const char uid[] = "\"uid\":\"u\",";
    char pod[2048];
    (void)snprintf(pod, sizeof pod, "%s", torture_pod(s->pod));
    char *at = strstr(pod, uid);
    if (s->verb == WHAT_IF || s->verb == ADMIT)
        memmove(at, at + sizeof uid - 1, strlen(at + sizeof uid - 1) + 1);
    int n = snprintf(s->body, sizeof s->body, "%s%s%s%s", verbs[s->verb].before,
                     s->malformed == NO_POD ? "null" : pod,
                     s->malformed == NO_REST ? "}" : verbs[s->verb].after,
                     s->malformed == EXTRA ? "," : "");
    assert_in_range(n, 0, sizeof s->body - 1);
    if (s->malformed == CUT)
        s->body[n * 2 / 3] = '\0';
}

static void keep_bytes(struct torture_answer *a, size_t *n, struct str bytes) {
    assert_true(*n + bytes.n < sizeof a->text);
    if (bytes.n > 0)
        memcpy(a->text + *n, bytes.p, bytes.n);
    *n += bytes.n;
    a->text[*n] = '\0';
}

/* Blanks a value that differs from run to run. */
static void blank(char *text, const char *key, const char *until_any) {
    for (char *at = strstr(text, key); at != NULL; at = strstr(at, key)) {
        at += strlen(key);
        size_t n = strcspn(at, until_any);
        memmove(at, at + n, strlen(at + n) + 1);
    }
}

/* Reads the answer as http/answer.c sends it. */
static void take_answer(const struct http_response *response, struct torture_answer *ret) {
    size_t n = 0;
    ret->text[0] = '\0';
    ret->status = response->status;
    if (response->pieces == NULL && strbuf_failed(&response->text)) {
        ret->status = 500;
        return;
    }
    if (response->pieces == NULL)
        keep_bytes(ret, &n, strbuf_str(&response->text));
    for (size_t i = 0; response->pieces != NULL && i < response->piece_count; i++)
        keep_bytes(ret, &n, response->pieces[i]);
    blank(ret->text, "\"tookMicroseconds\":", ",}");
    blank(ret->text, "\"time\":\"", "\"");
}

static void *context(struct torture_world *w, enum torture_verb verb) {
    return verb == ADMIT  ? (void *)&w->webhook
           : verb < ADMIT ? (void *)&w->called.x
                          : (void *)&w->explain;
}

void torture_ask(struct torture_world *w, const struct torture_scenario *s, volatile bool *during,
                 struct torture_answer *ret) {
    static char body[sizeof s->body];
    struct arena arena;
    struct http_response response = {.text.max = 1 << 20};
    (void)snprintf(body, sizeof body, "%s", s->body);
    arena_init(&arena, 1 << 20);
    const struct http_request request = {.method = STR("POST"),
                                         .path = STR("/explain/pods/default/web"),
                                         .body = str_of(body),
                                         .arena = &arena,
                                         .is_local = true};
    *during = true;
    verbs[s->verb].handle(context(w, s->verb), &request, &response);
    *during = false;
    take_answer(&response, ret);
    strbuf_done(&response.text);
    arena_done(&arena);
    cache_write_begin(w->called.c.cache); /* hangs if a reader is left */
    cache_write_end(w->called.c.cache);
}

void torture_decide(struct torture_world *w) {
    struct torture_scenario s = {.pod = 1};
    struct torture_answer ignored;
    volatile bool during;
    for (s.verb = FILTER; s.verb <= ADMIT; s.verb++) {
        torture_write_body(&s);
        torture_ask(w, &s, &during, &ignored);
    }
}
