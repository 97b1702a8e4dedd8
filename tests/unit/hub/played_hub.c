#include "unit/hub/played_hub.h"

#include <stdio.h>

/* ---- JSON ---- */

static cJSON *parse(const char *json) {
    char *text = strdup(json);
    assert_non_null(text);
    for (char *p = text; *p != '\0'; p++)
        if (*p == '\'')
            *p = '"';
    cJSON *object = cJSON_Parse(text);
    if (object == NULL)
        fail_msg("no JSON: %s", text);
    free(text);
    return object;
}

static cJSON *need(cJSON *object, const char *name) {
    cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsObject(found) ? found : cJSON_AddObjectToObject(object, name);
}

/* upstream: RFC 7386 */
static void merge(cJSON *into, const cJSON *changes) {
    for (const cJSON *change = changes->child; change != NULL; change = change->next) {
        if (cJSON_IsObject(change)) {
            merge(need(into, change->string), change);
            continue;
        }
        cJSON_DeleteItemFromObjectCaseSensitive(into, change->string);
        if (!cJSON_IsNull(change))
            assert_true(cJSON_AddItemToObject(into, change->string, cJSON_Duplicate(change, true)));
    }
}

static const char *text_of(const cJSON *object, const char *name) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text != NULL ? text : "";
}

static cJSON *metadata_of(const cJSON *object) {
    return cJSON_GetObjectItemCaseSensitive(object, "metadata");
}

static const char *name_of(const cJSON *object) {
    return text_of(metadata_of(object), "name");
}

/* ---- objects ---- */

static void show(struct played_hub *h, enum fleet_kind kind, cJSON *object) {
    char version[16];
    (void)snprintf(version, sizeof version, "%u", ++h->version);
    cJSON_DeleteItemFromObjectCaseSensitive(metadata_of(object), "resourceVersion");
    assert_non_null(cJSON_AddStringToObject(metadata_of(object), "resourceVersion", version));
    char *text = cJSON_PrintUnformatted(object);
    struct strbuf quoted = {0}; /* where ' stands for itself */
    for (const char *p = text; *p != '\0'; p++)
        strbuf_append_str(&quoted, *p == '\'' ? STR("\\u0027") : (struct str){p, 1});
    strbuf_append_char(&quoted, '\0');
    fleet_give(&h->fleet, kind, quoted.p);
    strbuf_done(&quoted);
    free(text);
}

static cJSON **find_decision(struct played_hub *h, const char *name) {
    cJSON **free_one = NULL;
    for (int i = 0; i < PLAYED_OBJECTS; i++)
        if (h->decisions[i] == NULL)
            free_one = free_one == NULL ? &h->decisions[i] : free_one;
        else if (strcmp(name_of(h->decisions[i]), name) == 0)
            return &h->decisions[i];
    assert_non_null(free_one);
    return free_one;
}

/* ---- life ---- */

void played_open(struct played_hub *h) {
    memset(h, 0, sizeof *h);
    fleet_builder_open(&h->fleet);
    arena_init(&h->arena, 64u << 20);
    h->settings = (struct owned_settings){.moves = {.settle_ms = 10000, .per_minute = 10},
                                          .shards = 4,
                                          .refused_after_ms = 30000,
                                          .refused_ms = 600000};
    fleet_give(&h->fleet, FLEET_SETS,
               "{'metadata':{'name':'all'},'spec':{'clusterSelector':{'selectorType':"
               "'LabelSelector','labelSelector':{}}}}");
    fleet_give(&h->fleet, FLEET_BINDINGS, "{'metadata':{'name':'all','namespace':'n'}}");
}

void played_close(struct played_hub *h) {
    owned_done(&h->owned);
    cJSON_Delete(h->placement);
    for (int i = 0; i < PLAYED_OBJECTS; i++)
        cJSON_Delete(h->decisions[i]);
    for (int i = 0; i < PLAYED_SCORES; i++)
        cJSON_Delete(h->scores[i]);
    fleet_builder_close(&h->fleet);
    arena_done(&h->arena);
}

void played_cluster(struct played_hub *h, const char *name, const char *labels, const char *rest) {
    char text[1000];
    (void)snprintf(text, sizeof text, "{'metadata':{'name':'%s','labels':{%s}}%s%s}", name, labels,
                   rest[0] != '\0' ? "," : "", rest);
    fleet_give(&h->fleet, FLEET_CLUSTERS, text);
}

void played_placement(struct played_hub *h, const char *annotations, const char *spec) {
    char text[2000];
    (void)snprintf(text, sizeof text,
                   "{'metadata':{'name':'p','namespace':'n','uid':'u','annotations':{%s}},"
                   "'spec':{%s}}",
                   annotations, spec);
    cJSON *made = parse(text);
    const cJSON *status = cJSON_GetObjectItemCaseSensitive(h->placement, "status");
    if (status != NULL)
        assert_true(cJSON_AddItemToObject(made, "status", cJSON_Duplicate(status, true)));
    cJSON_Delete(h->placement);
    h->placement = made;
    show(h, FLEET_PLACEMENTS, made);
}

void played_decision(struct played_hub *h, const char *name, const char *clusters) {
    char text[4000];
    cJSON **place = find_decision(h, name);
    (void)snprintf(text, sizeof text,
                   "{'metadata':{'name':'%s','namespace':'n','labels':{'" PLACEMENT_LABEL
                   "':'p','" PLACEMENT_GROUP_INDEX_LABEL "':'0','" PLACEMENT_GROUP_NAME_LABEL
                   "':''},'ownerReferences':[{'controller':true,'uid':'u'}]}}",
                   name);
    cJSON *made = parse(text);
    cJSON *list = cJSON_AddArrayToObject(need(made, "status"), "decisions");
    char *copy = strdup(clusters), *rest = copy;
    for (char *c; (c = strsep(&rest, " ")) != NULL;) {
        cJSON *item = c[0] != '\0' ? cJSON_CreateObject() : NULL;
        if (item == NULL)
            continue;
        (void)cJSON_AddStringToObject(item, "clusterName", c);
        (void)cJSON_AddItemToArray(list, item);
    }
    free(copy);
    cJSON_Delete(*place);
    *place = made;
    show(h, FLEET_DECISIONS, made);
}

void played_own(struct played_hub *h, const char *name) {
    cJSON *object = *find_decision(h, name);
    assert_non_null(object);
    cJSON *owner = cJSON_GetArrayItem(
        cJSON_GetObjectItemCaseSensitive(metadata_of(object), "ownerReferences"), 0);
    cJSON_DeleteItemFromObjectCaseSensitive(owner, "uid");
    assert_non_null(cJSON_AddStringToObject(owner, "uid", "v"));
    show(h, FLEET_DECISIONS, object);
}

void played_unlabel(struct played_hub *h, const char *name) {
    cJSON *object = *find_decision(h, name);
    assert_non_null(object);
    cJSON_DeleteItemFromObjectCaseSensitive(metadata_of(object), "labels");
    show(h, FLEET_DECISIONS, object);
}

/* ---- looks and writes ---- */

static int64_t denied_ms(void *ctx, struct str object) {
    const struct played_hub *h = ctx;
    return h->denied != NULL && str_eq(object, str_of(h->denied)) ? h->denied_ms : 0;
}

bool played_look(struct played_hub *h, struct owned_write *write) {
    struct fleet_view *view = (struct fleet_view *)(uintptr_t)fleet_look(&h->fleet);
    const struct owned_question q = {.view = view,
                                     .policies = h->policies,
                                     .namespace = STR("n"),
                                     .name = STR("p"),
                                     .wall_ms = 1800000000000 + h->now_ms,
                                     .now_ms = h->now_ms,
                                     .settings = &h->settings,
                                     .slowest_ms = h->slowest_ms,
                                     .answered_ms = h->answered_ms,
                                     .denied_ms = denied_ms,
                                     .ctx = h};
    struct err err = {0};
    arena_reset(&h->arena);
    if (owned_look(&h->owned, &q, &h->arena, &h->answer, &err) != 0)
        fail_msg("%s", err.text);
    if (h->answer.answered_ms > h->answered)
        h->answered = h->answer.answered_ms;
    *write = h->answer.write;
    struct score_wish wish = {strbuf_str(&write->item), write->comes};
    if (wish.item.n > 0)
        assert_true(scored_make_write(view, strbuf_str(&write->object), &wish, 1, write));
    h->answer.write = (struct owned_write){.what = OWNED_NOTHING};
    return write->what != OWNED_NOTHING;
}

static int change(struct played_hub *h, enum fleet_kind kind, cJSON *object, const cJSON *body,
                  bool is_status) {
    if (object == NULL)
        return 404;
    const char *wanted = text_of(metadata_of(body), "resourceVersion");
    if (wanted[0] != '\0' && strcmp(wanted, text_of(metadata_of(object), "resourceVersion")) != 0)
        return 409;
    if (is_status)
        merge(need(object, "status"), cJSON_GetObjectItemCaseSensitive(body, "status"));
    else
        merge(object, body);
    show(h, kind, object);
    return 0;
}

static int delete (struct played_hub *h, cJSON **place, const cJSON *body) {
    const cJSON *conditions = cJSON_GetObjectItemCaseSensitive(body, "preconditions");
    if (*place == NULL)
        return 404;
    if (strcmp(text_of(conditions, "resourceVersion"),
               text_of(metadata_of(*place), "resourceVersion")) != 0)
        return 409;
    fleet_drop(&h->fleet, FLEET_DECISIONS, "n", name_of(*place));
    cJSON_Delete(*place);
    *place = NULL;
    return 0;
}

static int create(struct played_hub *h, const cJSON *body) {
    cJSON **place = find_decision(h, name_of(body));
    if (*place != NULL)
        return 409;
    *place = cJSON_Duplicate(body, true);
    cJSON_DeleteItemFromObjectCaseSensitive(*place, "status");
    show(h, FLEET_DECISIONS, *place);
    return 0;
}

/* ---- scores ---- */

static cJSON **find_score(struct played_hub *h, const char *cluster, const char *name) {
    cJSON **free_one = NULL;
    for (int i = 0; i < PLAYED_SCORES; i++)
        if (h->scores[i] == NULL)
            free_one = free_one == NULL ? &h->scores[i] : free_one;
        else if (strcmp(name_of(h->scores[i]), name) == 0 &&
                 strcmp(text_of(metadata_of(h->scores[i]), "namespace"), cluster) == 0)
            return &h->scores[i];
    assert_non_null(free_one);
    return free_one;
}

#define SCORES "/apis/cluster.open-cluster-management.io/v1alpha1/namespaces/"

/* upstream: server-side apply of the only manager: its list is the list */
static int apply_score(struct played_hub *h, cJSON *object, const cJSON *body) {
    if (object == NULL)
        return 404;
    if (strcmp(text_of(metadata_of(body), "resourceVersion"),
               text_of(metadata_of(object), "resourceVersion")) != 0)
        return 409;
    cJSON_DeleteItemFromObjectCaseSensitive(object, "status");
    assert_true(cJSON_AddItemToObject(
        object, "status", cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(body, "status"), true)));
    show(h, FLEET_SCORES, object);
    return 0;
}

static int write_score(struct played_hub *h, const struct owned_write *write, const char *path,
                       const cJSON *body) {
    char cluster[64], name[64] = "";
    const int parts =
        sscanf(path + sizeof SCORES - 1, "%63[^/]/addonplacementscores/%63s", cluster, name);
    assert_int_equal(parts, write->verb == WRITE_CREATE ? 1 : 2);
    if (h->without_namespace != NULL && strcmp(cluster, h->without_namespace) == 0)
        return 404;
    if (write->verb == WRITE_APPLY || write->verb == WRITE_MERGE)
        return apply_score(h, *find_score(h, cluster, name), body);
    assert_int_equal(write->verb, WRITE_CREATE);
    cJSON **place = find_score(h, cluster, name_of(body));
    if (*place != NULL)
        return 409;
    *place = cJSON_Duplicate(body, true);
    show(h, FLEET_SCORES, *place);
    return 0;
}

#define API "/apis/cluster.open-cluster-management.io/v1beta1/namespaces/n/"

int played_apply(struct played_hub *h, const struct owned_write *write) {
    char path[300] = "";
    int r;
    memcpy(path, write->path.p, write->path.n < sizeof path ? write->path.n : 0);
    cJSON *body = cJSON_ParseWithLength(write->body.p, write->body.n);
    assert_non_null(body);
    char *status = strstr(path, "/status");
    if (status != NULL)
        *status = '\0';
    const char *object = strncmp(path, API "placementdecisions/", sizeof API + 18) == 0
                             ? path + sizeof API + 18
                             : NULL;
    if (strncmp(path, SCORES, sizeof SCORES - 1) == 0) {
        r = write_score(h, write, path, body);
    } else if (write->verb == WRITE_CREATE) {
        assert_string_equal(path, API "placementdecisions");
        r = create(h, body);
    } else if (write->verb == WRITE_DELETE) {
        assert_non_null(object);
        r = delete (h, find_decision(h, object), body);
    } else if (object != NULL) {
        r = change(h, FLEET_DECISIONS, *find_decision(h, object), body, status != NULL);
    } else {
        assert_string_equal(path, API "placements/p");
        r = change(h, FLEET_PLACEMENTS, h->placement, body, status != NULL);
    }
    cJSON_Delete(body);
    h->writes++;
    if (h->check != NULL)
        h->check(h);
    return r;
}

unsigned played_settle(struct played_hub *h) {
    struct owned_write write;
    unsigned writes = 0;
    while (played_look(h, &write)) {
        struct owned_write taken = write;
        owned_taken(&h->owned, &taken, h->now_ms);
        const int status = played_apply(h, &write);
        assert_true(status == 0 || (status == 404 && h->without_namespace != NULL));
        owned_ended(&h->owned, status == 0 ? WRITE_DONE : WRITE_GONE, status == 0 ? 200 : status,
                    h->now_ms);
        strbuf_done(&write.path); /* the rest is kept of it */
        strbuf_done(&write.body);
        if (++writes > 200)
            fail_msg("there is no end of writes");
    }
    return writes;
}

/* ---- OCM ---- */

static bool is_gated(const struct placement *p) {
    bool gated = false;
    for (uint32_t i = 0; i < p->predicate_count; i++)
        gated = gated || p->predicates[i].is_gated;
    return gated;
}

/* Clusters whose item of this key is above 0, or all, without the one that is refused. */
static uint32_t let_pass(struct played_hub *h, const struct fleet_view *view,
                         const struct injected_key *key, struct str *names) {
    const struct topology *t = view->clusters.topology;
    uint32_t count = 0;
    const struct fleet_scores *scores =
        key != NULL
            ? fleet_scores_find(view, arena_printf(&h->arena, INJECTED_RESOURCE, key->shard))
            : NULL;
    const uint32_t item = key != NULL
                              ? fleet_score_name(view, arena_printf(&h->arena, INJECTED_SCORE,
                                                                    key->shard, key->number))
                              : 0;
    for (uint32_t slot = 0; slot < topology_slots(t); slot++) {
        const bool passes = key == NULL || (scores != NULL && item != INTERN_NONE &&
                                            fleet_score_of(scores, slot, item).value > 0);
        if (passes && topology_is_known(t, slot) &&
            (h->refused == NULL || !str_eq(topology_name(t, slot), str_of(h->refused))))
            names[count++] = topology_name(t, slot);
    }
    return count;
}

void played_number(struct played_hub *h, unsigned selected) {
    cJSON *status = need(h->placement, "status");
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(status, "numberOfSelectedClusters");
    if (number != NULL && number->valueint == (int)selected)
        return;
    cJSON_DeleteItemFromObjectCaseSensitive(status, "numberOfSelectedClusters");
    assert_non_null(cJSON_AddNumberToObject(status, "numberOfSelectedClusters", selected));
    show(h, FLEET_PLACEMENTS, h->placement);
}

void played_ocm(struct played_hub *h) {
    struct fleet_view *view = (struct fleet_view *)(uintptr_t)fleet_look(&h->fleet);
    struct placement p;
    struct injected injected = {.valid = false};
    struct ocm_decision d;
    struct json_reader r;
    struct str text, names[PLAYED_SCORES];
    struct err err;
    struct strbuf selected = {0};
    arena_reset(&h->arena);
    json_reader_init(&r, fleet_placement_json(view, STR("n"), STR("p")), &h->arena, "placement");
    placement_decode(&r, &p);
    assert_int_equal(json_finish(&r, &err), 0);
    if (labels_lookup(&p.annotations, STR(PLACEMENT_DISABLE_ANNOTATION), &text))
        return;
    if (labels_lookup(&p.annotations, STR(PLACEMENT_INJECTED_ANNOTATION), &text))
        injected_read(text, &h->arena, &injected);
    p.term_count = 0; /* which OCM does not know */
    const struct ocm_question q = {
        .placement = &p,
        .now_ms = 1800000000000 + h->now_ms,
        .has_names = true,
        .names = names,
        .name_count = let_pass(h, view, is_gated(&p) ? &injected.key : NULL, names)};
    assert_int_equal(ocm_decide(view, &q, &h->arena, &d, &err), 0);
    for (uint32_t i = 0; i < d.plan.selected_count; i++) {
        strbuf_append_str(&selected, STR(" "));
        strbuf_append_str(&selected, ocm_cluster_name(&d, d.selected_by_name[i]));
    }
    strbuf_append_char(&selected, '\0');
    const uint32_t count = d.plan.selected_count;
    played_decision(h, "p-decision-1", selected.p);
    played_number(h, count);
    strbuf_done(&selected);
}

/* ---- what there is ---- */

static size_t find_published(const struct played_hub *h, const char *found[PLAYED_SCORES]) {
    char item[32];
    size_t count = 0;
    const struct injected_key key = injected_key_of(STR("u"), h->settings.shards);
    (void)snprintf(item, sizeof item, INJECTED_SCORE, key.shard, key.number);
    for (int i = 0; i < PLAYED_SCORES; i++) {
        const cJSON *score, *status = cJSON_GetObjectItemCaseSensitive(h->scores[i], "status");
        cJSON_ArrayForEach(score, cJSON_GetObjectItemCaseSensitive(status, "scores")) {
            if (strcmp(text_of(score, "name"), item) == 0 &&
                cJSON_GetObjectItemCaseSensitive(score, "value")->valueint > 0)
                found[count++] = text_of(metadata_of(h->scores[i]), "namespace");
        }
    }
    return count;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

unsigned played_published_count(const struct played_hub *h) {
    const char *found[PLAYED_SCORES];
    return (unsigned)find_published(h, found);
}

void played_published(const struct played_hub *h, const char *wanted) {
    struct strbuf text = {0};
    const char *found[PLAYED_SCORES];
    const size_t count = find_published(h, found);
    qsort(found, count, sizeof found[0], by_text);
    for (size_t i = 0; i < count; i++)
        strbuf_appendf(&text, "%s%s", i > 0 ? " " : "", found[i]);
    assert_str(strbuf_str(&text), wanted);
    strbuf_done(&text);
}

static int by_name(const void *a, const void *b) {
    return strcmp(name_of(*(cJSON *const *)a), name_of(*(cJSON *const *)b));
}

void played_is(struct played_hub *h, const char *wanted) {
    struct strbuf text = {0};
    cJSON *sorted[PLAYED_OBJECTS];
    size_t count = 0;
    for (int i = 0; i < PLAYED_OBJECTS; i++)
        if (h->decisions[i] != NULL)
            sorted[count++] = h->decisions[i];
    qsort(sorted, count, sizeof sorted[0], by_name);
    for (size_t i = 0; i < count; i++) {
        const cJSON *status = cJSON_GetObjectItemCaseSensitive(sorted[i], "status");
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(status, "decisions");
        const cJSON *item = list != NULL ? list->child : NULL;
        strbuf_appendf(&text, "%s%s:", i > 0 ? "; " : "", name_of(sorted[i]));
        for (; item != NULL; item = item->next)
            strbuf_appendf(&text, " %s", text_of(item, "clusterName"));
    }
    assert_str(strbuf_str(&text), wanted);
    strbuf_done(&text);
}

const char *played_text(const struct played_hub *h, const char *path) {
    char copy[200], *rest = copy;
    const cJSON *at = h->placement;
    (void)snprintf(copy, sizeof copy, "%s", path);
    for (char *part; at != NULL && (part = strsep(&rest, "/")) != NULL;)
        at = cJSON_IsArray(at) ? cJSON_GetArrayItem(at, (int)strtol(part, NULL, 10))
                               : cJSON_GetObjectItemCaseSensitive(at, part);
    const char *text = cJSON_GetStringValue(at);
    return text != NULL ? text : "";
}

const char *played_condition(const struct played_hub *h, const char *type) {
    static char text[200];
    const cJSON *status = cJSON_GetObjectItemCaseSensitive(h->placement, "status");
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(status, "conditions");
    const cJSON *c = list != NULL ? list->child : NULL;
    text[0] = '\0';
    for (; c != NULL; c = c->next)
        if (strcmp(text_of(c, "type"), type) == 0)
            (void)snprintf(text, sizeof text, "%s %s", text_of(c, "status"), text_of(c, "reason"));
    return text;
}

unsigned played_holds(const struct played_hub *h, const char *cluster) {
    unsigned count = 0;
    for (int i = 0; i < PLAYED_OBJECTS; i++) {
        const cJSON *item, *status = cJSON_GetObjectItemCaseSensitive(h->decisions[i], "status");
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(status, "decisions")) count +=
            strcmp(text_of(item, "clusterName"), cluster) == 0;
    }
    return count;
}
