#include "check/validating.h"

#include "base/json_fields.h"
#include "base/limits.h"
#include "kube/client/list.h"
#include "kube/objects/webhook_configuration.h"
#include "model/kinds.h"
#include "policy/batch.h"

#include <stdio.h>

#define VALIDATING_PATH "/webhooks/v1/pods/validate"

enum { POLICIES_NAMED = 3 };

struct check {
    const struct configuration *configuration;
    struct kube_client *client;
    struct check_report *out;
    struct strbuf requiring; /* names of policies: "a, b" */
    uint32_t requiring_count;
    /* Does a configuration make API servers ask the validating webhook about new pods? And about
     * updates of pods, which may remove schedulingGates? */
    bool asked, asked_updates;
};

/* ---- lists ---- */

typedef void item_fn(struct check *c, struct json_reader *r);

struct listing {
    struct check *check;
    const char *path;
    item_fn *item;
};

static void read_items(struct check *c, struct json_reader *r, item_fn *item) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR("items")) && json_array(r))
            while (json_element(r))
                item(c, r);
}

static int read_page(void *ctx, struct strbuf *page, struct err *err) {
    const struct listing *l = ctx;
    CLEANUP(arena_done) struct arena arena;
    struct json_reader r;
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    json_reader_init(&r, strbuf_str(page), &arena, l->path);
    read_items(l->check, &r, l->item);
    return json_finish(&r, err);
}

/* Reads every item. Returns true if it has read all items. An answer that cannot be read is
 * reported here; permissions_check() reports a list that this user may not read. */
static bool list(struct check *c, const char *path, item_fn *item) {
    struct listing listing = {c, path, item};
    struct err err = {0};
    int status = 0;
    int failed = kube_list(c->client, &(struct kube_listing){.path = path}, read_page, &listing,
                           &status, &err);
    if (failed != 0)
        check_report_add(c->out, SEVERITY_WARNING, 0, "policies", "",
                         "cannot find out whether policies with mode Require bind anybody: %s",
                         err.text);
    return failed == 0 && status == 200;
}

/* ---- policies ---- */

/* Records a policy with mode Require. A policy that cannot work has no effect; its status has the
 * reason. */
static void note_policy(struct check *c, struct json_reader *r) {
    struct policy_batch *batch = NULL;
    struct err unsaid; /* no name, or no memory */
    uint32_t count;
    if (policy_batch_decode(json_skip(r), &batch, &unsaid) != 0)
        return;
    const struct policy *policy = policy_batch_items(batch, &count);
    if (count == 1 && policy->mode == POLICY_REQUIRE && str_empty(policy->problem) &&
        c->requiring_count++ < POLICIES_NAMED)
        strbuf_appendf(&c->requiring, "%s%.*s", c->requiring_count > 1 ? ", " : "",
                       STR_ARG(policy->name));
    policy_batch_release(batch);
}

/* ---- configurations ---- */

static struct str string_member(struct json_reader *r, struct str name) {
    const struct json_field fields[] = {{.name = name, .kind = JSON_KIND_TEXT}};
    struct str said = {0};
    json_fields(r, &JSON_ROWS(fields), &said);
    return said;
}

static bool asks_us(struct json_reader *r) {
    struct str key, path = {0};
    if (!json_object(r))
        return false;
    while (json_member(r, &key))
        if (str_eq(key, STR("service"))) {
            struct str said = string_member(r, STR("path"));
            path = said.n > 0 ? said : path;
        } else if (str_eq(key, STR("url"))) {
            struct str said = json_null(r) ? (struct str){0} : json_string(r);
            path = said.n > 0 ? said : path;
        }
    return str_has_suffix(path, STR(VALIDATING_PATH));
}

/* Does a rule's list of operations have this operation, or all of them? */
static bool has_operation(struct json_reader *r, struct str operation) {
    bool has = false;
    if (json_null(r) || !json_array(r))
        return false;
    while (json_element(r)) {
        struct str said = json_string(r);
        has = has || str_eq(said, operation) || str_eq(said, STR("*"));
    }
    return has;
}

static bool rules_have(struct json_reader *r, struct str operation) {
    bool has = false;
    struct str key;
    if (json_null(r) || !json_array(r))
        return false;
    while (json_element(r))
        for (bool more = json_object(r); more && json_member(r, &key);)
            if (str_eq(key, STR("operations")))
                has = has_operation(r, operation) || has;
    return has;
}

static void note_webhook(struct check *c, struct json_reader *r) {
    bool is_ours = false, has_updates = false;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR("clientConfig")))
            is_ours = asks_us(r);
        else if (str_eq(key, STR("rules")))
            has_updates = rules_have(r, STR("UPDATE"));
    c->asked = c->asked || is_ours;
    c->asked_updates = c->asked_updates || (is_ours && has_updates);
}

static void note_configuration(struct check *c, struct json_reader *r) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR("webhooks")) && json_array(r))
            while (json_element(r))
                note_webhook(c, r);
}

/* Lists configurations by name, for a user who may only read the webhook's configurations. */
static bool look_by_name(struct check *c) {
    const struct configuration_certificates *certificates = &c->configuration->webhook.certificates;
    bool seen = false;
    for (size_t i = 0; i < certificates->validating_count; i++) {
        char path[384]; /* fits: a name has at most 253 bytes */
        (void)snprintf(path, sizeof path, "%s?fieldSelector=metadata.name%%3D%s",
                       webhook_kinds[WEBHOOK_VALIDATING].path, certificates->validating[i]);
        seen = list(c, path, note_configuration) || seen;
    }
    return seen;
}

/* ---- both ---- */

static void say(struct check *c, const char *what, const char *problem, const char *advice) {
    CLEANUP(strbuf_done) struct strbuf more = {.max = 64};
    if (c->requiring_count > POLICIES_NAMED)
        strbuf_appendf(&more, " and %u more", c->requiring_count - POLICIES_NAMED);
    check_report_add(c->out, SEVERITY_WARNING, 0, "policies", advice,
                     "mode Require (%.*s%.*s) %s: %s", STR_ARG(strbuf_str(&c->requiring)),
                     STR_ARG(strbuf_str(&more)), what, problem);
}

void validating_check(const struct configuration *configuration, struct kube_client *client,
                      struct check_report *out) {
    struct check c = {.configuration = configuration, .client = client, .out = out};
    char path[KIND_PATH_SIZE];
    c.requiring.max = 1024;
    kind_path(&watched_kinds[KIND_TOPOLOGY_POLICY], path);
    if (list(&c, path, note_policy) && c.requiring_count > 0) {
        bool seen = list(&c, webhook_kinds[WEBHOOK_VALIDATING].path, note_configuration) ||
                    look_by_name(&c);
        if (seen && !c.asked)
            say(&c, "binds nobody",
                "no ValidatingWebhookConfiguration has API servers call " VALIDATING_PATH,
                "apply webhook-pods-validate.yaml, or set webhook.validating.enabled of the chart");
        else if (seen && !c.asked_updates)
            say(&c, "does not bind pods with schedulingGates",
                "no ValidatingWebhookConfiguration has API servers call " VALIDATING_PATH
                " when schedulingGates are removed (operation UPDATE)",
                "apply webhook-pods-validate.yaml, or upgrade the chart; Kubernetes before 1.28 "
                "would ask about every change of a pod");
        else if (!seen && configuration_listens(configuration->webhook.listen))
            say(&c, "may bind nobody",
                "whether a ValidatingWebhookConfiguration has API servers call " VALIDATING_PATH
                " cannot be seen",
                "name the configuration in webhook.certificates.validatingConfigurations, or check "
                "as administrator");
    }
    strbuf_done(&c.requiring);
}
