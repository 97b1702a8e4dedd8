#include "unit/data/fluid/world.h"

#include "admission/pods/fluid_edits.h"
#include "base/limits.h"
#include "model/fixed_pod.h"

#include <stdio.h>

void world_init(struct world *w) {
    struct err err;
    *w = (struct world){.store = fluid_store_new()};
    arena_init(&w->arena, 64u << 20);
    assert_non_null(w->store);
    assert_int_equal(fluid_profile_default(&w->arena, &w->profile, &err), 0);
    w->options.profile = &w->profile;
}

void world_done(struct world *w) {
    cJSON_Delete(w->pod);
    fluid_store_free(w->store);
    arena_done(&w->arena);
}

cJSON *world_document(const char *json) {
    char *text = strdup(json);
    assert_non_null(text);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    cJSON *doc = cJSON_Parse(text);
    if (doc == NULL)
        fail_msg("no JSON: %s", text);
    free(text);
    return doc;
}

void world_put(struct world *w, const char *json) {
    struct err err = {0};
    cJSON *doc = world_document(json);
    if (fluid_store_put(w->store, doc, &err) != 0)
        fail_msg("%s", err.text);
    cJSON_Delete(doc);
}

void world_dataset(struct world *w, const char *name, const char *spec, const char *status) {
    char json[2048];
    (void)snprintf(json, sizeof json,
                   "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'%s',"
                   "'labels':{'fluid.io/s-default-%s':'true'}}}",
                   name, name);
    world_put(w, json);
    (void)snprintf(json, sizeof json,
                   "{'apiVersion':'data.fluid.io/v1alpha1','kind':'Dataset','metadata':{'name':"
                   "'%s','uid':'u-%s'},'status':{'phase':'Bound','runtimes':[{'type':'alluxio'}]}}",
                   name, name);
    world_put(w, json);
    (void)snprintf(json, sizeof json,
                   "{'apiVersion':'data.fluid.io/v1alpha1','kind':'AlluxioRuntime','metadata':{"
                   "'name':'%s'},'spec':{%s},'status':{%s}}",
                   name, spec, status);
    world_put(w, json);
}

struct str world_text(struct world *w, const char *json) {
    char *text = arena_cstr(&w->arena, str_of(json));
    assert_non_null(text);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    return str_of(text);
}

void world_read(struct str text, struct arena *arena, struct world_pod *ret) {
    struct json_reader r;
    struct err err = {0};
    *ret = (struct world_pod){.text = text};
    json_reader_init(&r, text, arena, "Pod");
    pod_decode(&r, POD_WHOLE, &ret->pod);
    if (json_finish(&r, &err) != 0 ||
        pod_details_read_metadata(text, arena, &ret->details, &err) != 0 ||
        pod_details_read_spec(text, arena, &ret->details, &err) != 0)
        fail_msg("%s", err.text);
    ret->is_placed = !str_empty(pod_fixed_because(&ret->pod, &ret->details.annotations));
}

struct str world_edit(const struct world_pod *pod, const struct fluid_edits *edits,
                      struct arena *arena) {
    struct patch patch;
    struct err err = {0};
    patch_init(&patch, pod->text, arena);
    if (fluid_edits_write(edits, &pod->details, &patch, &err) != 0)
        fail_msg("%s", err.text);
    return patch.document;
}

static void ask(struct world *w) {
    struct err err = {0};
    struct world_pod pod;
    w->arena.steps = (struct steps){.max = LIMIT_REVIEW_STEPS};
    world_read(w->document, &w->arena, &pod);
    struct fluid_question q = {.pod = &pod.pod,
                               .details = &pod.details,
                               .namespace = STR("default"),
                               .is_placed = pod.is_placed,
                               .locality = w->locality};
    if (fluid_mutate(w->store, &w->options, &q, &w->arena, &w->outcome, &err) != 0)
        fail_msg("%s", err.text);
    if (w->outcome.result == FLUID_EDITED)
        w->document = world_edit(&pod, &w->outcome.edits, &w->arena);
    cJSON_Delete(w->pod);
    w->pod = cJSON_ParseWithLength(w->document.p, w->document.n);
    assert_non_null(w->pod);
}

void world_mutate(struct world *w, const char *pod) {
    w->document = world_text(w, pod);
    ask(w);
}

void world_mutate_again(struct world *w) {
    ask(w);
}

/* ---- as text ---- */

static void add_list(struct strbuf *out, const cJSON *list, const char *prefix) {
    const cJSON *item, *value;
    cJSON_ArrayForEach(item, list) {
        const char *sep = out->n > 0 && out->p[out->n - 1] != '{' ? " & " : "";
        strbuf_appendf(out, "%s%s%s %s", sep, prefix, doc_string(item, "key"),
                       doc_string(item, "operator"));
        sep = " ";
        cJSON_ArrayForEach(value, doc_array(item, "values")) {
            strbuf_appendf(out, "%s%s", sep, cJSON_GetStringValue(value));
            sep = ",";
        }
    }
}

static void add_term(struct strbuf *out, const cJSON *term) {
    strbuf_append_char(out, '{');
    add_list(out, doc_array(term, "matchExpressions"), "");
    add_list(out, doc_array(term, "matchFields"), "F:");
    strbuf_append_char(out, '}');
}

void world_describe(const cJSON *node_affinity, char *ret, size_t size) {
    struct strbuf out = {0};
    const cJSON *item, *preferred = doc_array(node_affinity, WORLD_PREFERRED);
    const cJSON *required = doc_object(node_affinity, WORLD_REQUIRED);
    if (required != NULL)
        strbuf_append_str(&out, STR("REQ"));
    const char *sep = " ";
    cJSON_ArrayForEach(item, doc_array(required, "nodeSelectorTerms")) {
        strbuf_append_str(&out, str_of(sep));
        add_term(&out, item);
        sep = " | ";
    }
    if (preferred != NULL)
        strbuf_append_str(&out, str_of(out.n > 0 ? " PREF" : "PREF"));
    sep = " ";
    cJSON_ArrayForEach(item, preferred) {
        strbuf_appendf(&out, "%s%d ", sep, (int)cJSON_GetNumberValue(doc_at(item, "weight")));
        add_term(&out, doc_object(item, "preference"));
        sep = "; ";
    }
    assert_true(out.n < size);
    memcpy(ret, out.n > 0 ? out.p : "", out.n);
    ret[out.n] = '\0';
    strbuf_done(&out);
}

const cJSON *world_node_affinity(const cJSON *pod) {
    return doc_object(doc_object(doc_object(pod, "spec"), "affinity"), "nodeAffinity");
}

const char *world_affinity(struct world *w) {
    world_describe(world_node_affinity(w->pod), w->text, sizeof w->text);
    return w->text;
}
