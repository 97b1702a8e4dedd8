#include "extender/wire.h"

#include "base/json_fields.h"
#include "base/json_writer.h"
#include "extender/name_lists.h"

#include <errno.h>

/* ---- decoding ---- */

/* Returns metadata.name of the next object; the reader does not move. */
static struct str peek_name(const struct json_reader *r) {
    struct json_reader ahead = *r;
    struct str key;
    if (json_object(&ahead))
        while (json_member(&ahead, &key)) {
            if (!str_eq(key, STR("metadata")))
                continue;
            static const struct json_field name_field[] = {JSON_TEXT_ALONE("name")};
            struct str name = {0};
            json_fields(&ahead, &JSON_ROWS(name_field), &name);
            return json_failed(&ahead) ? (struct str){0} : name;
        }
    return (struct str){0};
}

struct named_node {
    struct str name, bytes;
};

static void node_item(struct json_reader *r, void *into) {
    struct named_node *node = into;
    node->name = peek_name(r);
    bool is_object = json_peek(r) == JSON_OBJECT;
    node->bytes = json_skip(r);
    if (!json_failed(r) && (!is_object || node->name.n == 0))
        json_fail(r, "a node without metadata.name ends here");
}

/* A request is an object with a Pod and members of its own, which `member` reads or skips. */
struct request_format {
    const char *name, *members; /* for messages: the request's name, and its expected members */
    void (*member)(struct json_reader *r, struct str key, void *into);
};

static int request_decode(const struct request_format *format, struct str body, struct arena *arena,
                          struct pod *pod, void *into, struct err *err) {
    struct json_reader r;
    struct str key;
    bool has_pod = false;
    json_reader_init(&r, body, arena, format->name);
    if (json_peek(&r) != JSON_OBJECT)
        json_fail(&r, "expected an object with %s", format->members);
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq_nocase(key, STR("Pod"))) {
                has_pod = json_peek(&r) == JSON_OBJECT;
                pod_decode(&r, POD_WHOLE, pod);
            } else {
                format->member(&r, key, into);
            }
        }
    int failed = json_finish(&r, err);
    if (failed == 0 && !has_pod)
        return err_set(err, -EINVAL, "%s.Pod: missing", format->name);
    return failed;
}

struct args_members {
    struct candidates names; /* of NodeNames */
    bool has_names;
    struct candidates full;  /* of Nodes */
    const struct str *nodes; /* NULL: no Nodes */
};

static void node_list_decode(struct json_reader *r, struct args_members *args) {
    struct str key;
    if (!json_object(r))
        return;
    if (args->nodes == NULL)
        args->nodes = arena_alloc(r->arena, 0); /* a list without items has no nodes */
    while (json_member(r, &key)) {
        if (!str_eq(key, STR("items")))
            continue;
        uint32_t count;
        const struct named_node *items =
            json_array_of(r, sizeof *items, LIMIT_NODE_NAMES, node_item, &count);
        struct str *names = arena_array(r->arena, count, sizeof *names);
        struct str *nodes = arena_array(r->arena, count, sizeof *nodes);
        if (names == NULL || nodes == NULL || json_failed(r))
            return;
        for (uint32_t i = 0; i < count; i++) {
            names[i] = items[i].name;
            nodes[i] = items[i].bytes;
        }
        args->full = (struct candidates){names, count};
        args->nodes = nodes;
    }
}

static void args_member(struct json_reader *r, struct str key, void *into) {
    struct args_members *args = into;
    if (str_eq_nocase(key, STR("NodeNames"))) {
        args->has_names = json_peek(r) == JSON_ARRAY;
        args->names.names = json_string_array(r, LIMIT_NODE_NAMES, &args->names.count);
    } else if (str_eq_nocase(key, STR("Nodes"))) {
        node_list_decode(r, args);
    }
}

int extender_args_decode(struct str body, struct arena *arena, struct extender_args *ret,
                         struct err *err) {
    static const struct request_format format = {"ExtenderArgs", "Pod and NodeNames", args_member};
    struct args_members members = {0};
    struct pod pod = {0};
    int r = request_decode(&format, body, arena, &pod, &members, err);
    if (r != 0)
        return r;
    if (members.has_names)
        *ret = (struct extender_args){.body = body, .pod = pod, .candidates = members.names};
    else if (members.nodes != NULL)
        *ret = (struct extender_args){
            .body = body, .pod = pod, .candidates = members.full, .nodes = members.nodes};
    else
        return err_set(err, -EINVAL,
                       "ExtenderArgs: neither NodeNames nor Nodes; set nodeCacheCapable: true");
    return 0;
}

/* Decodes {"UID": "..."} of the names mode, or a whole Pod. */
static void victim_decode(struct json_reader *r, void *into) {
    struct object_meta *victim = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq_nocase(key, STR("UID")))
            victim->uid = json_string(r);
        else if (str_eq(key, STR("metadata")))
            meta_decode(r, victim);
    }
}

static struct extender_victims victims_decode(struct json_reader *r, struct str node) {
    struct extender_victims v = {.preemption.node = node};
    struct str key;
    if (!json_object(r))
        return v;
    while (json_member(r, &key)) {
        if (str_eq_nocase(key, STR("Pods")))
            v.preemption.victims = json_array_of(r, sizeof(struct object_meta), LIMIT_NODE_NAMES,
                                                 victim_decode, &v.preemption.victim_count);
        else if (str_eq_nocase(key, STR("NumPDBViolations")))
            v.pdb_violations = json_integer(r, INT64_MIN, INT64_MAX);
    }
    return v;
}

struct victims_members {
    const struct extender_victims *items;
    uint32_t count;
    bool present;
};

static void victim_map_decode(struct json_reader *r, struct victims_members *victims) {
    struct extender_victims *items = NULL;
    uint32_t count = 0, cap = 0;
    struct str node;
    if (!json_object(r))
        return;
    while (json_member(r, &node)) {
        if (count == LIMIT_NODE_NAMES) {
            json_fail(r, "more than %d nodes", LIMIT_NODE_NAMES);
            return;
        }
        struct extender_victims v = victims_decode(r, node);
        items = arena_push(r->arena, items, count, &cap, sizeof *items);
        if (items == NULL)
            return;
        items[count++] = v;
    }
    *victims = (struct victims_members){items, count, true};
}

static void preemption_member(struct json_reader *r, struct str key, void *into) {
    if (str_eq_nocase(key, STR("NodeNameToMetaVictims")) ||
        str_eq_nocase(key, STR("NodeNameToVictims")))
        victim_map_decode(r, into);
}

int extender_preemption_decode(struct str body, struct arena *arena,
                               struct extender_preemption_args *ret, struct err *err) {
    static const struct request_format format = {
        "ExtenderPreemptionArgs", "Pod and NodeNameToMetaVictims", preemption_member};
    struct victims_members victims = {0};
    struct pod pod = {0};
    int r = request_decode(&format, body, arena, &pod, &victims, err);
    if (r != 0)
        return r;
    if (!victims.present)
        return err_set(
            err, -EINVAL,
            "ExtenderPreemptionArgs: neither NodeNameToMetaVictims nor NodeNameToVictims");
    *ret = (struct extender_preemption_args){pod, victims.items, victims.count};
    return 0;
}

static struct str *binding_member(struct extender_binding *binding, struct str key) {
    const struct {
        struct str name;
        struct str *value;
    } members[] = {
        {STR("PodName"), &binding->name},
        {STR("PodNamespace"), &binding->namespace},
        {STR("PodUID"), &binding->uid},
        {STR("Node"), &binding->node},
    };
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (str_eq_nocase(key, members[i].name))
            return members[i].value;
    return NULL;
}

int extender_binding_decode(struct str body, struct arena *arena, struct extender_binding *ret,
                            struct err *err) {
    struct extender_binding binding = {0};
    struct json_reader r;
    struct str key;
    json_reader_init(&r, body, arena, "ExtenderBindingArgs");
    if (json_peek(&r) != JSON_OBJECT)
        json_fail(&r, "expected an object with PodName, PodNamespace, PodUID and Node");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            struct str *value = binding_member(&binding, key);
            if (value != NULL)
                *value = json_string(&r);
        }
    int failed = json_finish(&r, err);
    if (failed != 0)
        return failed;
    if (binding.name.n == 0 || binding.namespace.n == 0 || binding.uid.n == 0 ||
        binding.node.n == 0)
        return err_set(err, -EINVAL,
                       "ExtenderBindingArgs: PodName, PodNamespace, PodUID and Node are needed");
    *ret = binding;
    return 0;
}

/* ---- encoding ---- */

static bool passes(const struct filter_result *result, uint32_t i) {
    return result == NULL || result->verdicts[i] == VERDICT_PASS;
}

/* Reserves room at once for all names, and `beside` bytes with each, instead of by doubling. */
static void reserve_names(const struct extender_args *args, size_t beside, struct strbuf *out) {
    if (args->nodes == NULL)
        (void)strbuf_reserve(out, args->body.n + args->candidates.count * beside); /* may fail */
}

/* Returns a name with its quotes if it is a slice of the request: such a name has no escapes, and
 * can be sent back without a look at its characters. Otherwise returns "". */
static struct str quoted_name(const struct extender_args *args, struct str name) {
    uintptr_t at = (uintptr_t)name.p, body = (uintptr_t)args->body.p;
    bool slice = at > body && at + name.n < body + args->body.n;
    return slice ? (struct str){name.p - 1, name.n + 2} : (struct str){0};
}

static void put_name(struct json_writer *w, const struct extender_args *args, struct str name) {
    struct str quoted = quoted_name(args, name);
    if (quoted.n > 0)
        json_put_raw(w, quoted);
    else
        json_put_string(w, name);
}

static void encode_failed(struct json_writer *w, struct str key, const struct extender_args *args,
                          const struct filter_result *result, enum verdict verdict) {
    json_key(w, key);
    json_begin_object(w);
    for (uint32_t i = 0; result != NULL && i < args->candidates.count; i++)
        if (result->verdicts[i] == verdict) {
            put_name(w, args, args->candidates.names[i]);
            strbuf_append_char(w->out, ':');
            w->comma = false;
            json_put_string(w, result->reason_texts[result->reasons[i]]);
        }
    json_end_object(w);
}

static void encode_tail(struct json_writer *w, const struct extender_args *args,
                        const struct filter_result *result) {
    encode_failed(w, STR("FailedNodes"), args, result, VERDICT_UNSCHEDULABLE);
    encode_failed(w, STR("FailedAndUnresolvableNodes"), args, result, VERDICT_UNRESOLVABLE);
    json_put_member(w, STR("Error"), STR(""));
    json_end_object(w);
}

/* Lists the passing nodes as pieces of the received bytes: neighbours in the request stay one
 * piece, with the comma between them. */
static bool node_pieces(const struct extender_args *args, const struct filter_result *result,
                        struct arena *arena, struct http_response *response) {
    struct str *pieces = arena_array(arena, 2 * (size_t)args->candidates.count + 3, sizeof *pieces);
    size_t n = 1;
    uint32_t last = UINT32_MAX;
    if (pieces == NULL)
        return false;
    pieces[0] = STR("{\"Nodes\":{\"metadata\":{},\"items\":[");
    for (uint32_t i = 0; i < args->candidates.count; i++) {
        if (!passes(result, i))
            continue;
        struct str node = args->nodes[i];
        if (last != UINT32_MAX && last + 1 == i) {
            pieces[n - 1].n = (size_t)(node.p + node.n - pieces[n - 1].p);
        } else {
            if (last != UINT32_MAX)
                pieces[n++] = STR(",");
            pieces[n++] = node;
        }
        last = i;
    }
    response->pieces = pieces;
    response->piece_count = n;
    return true;
}

static void filter_encode_nodes(const struct extender_args *args,
                                const struct filter_result *result, struct arena *arena,
                                struct http_response *response) {
    struct strbuf tail = {0};
    struct json_writer w = {.out = &tail, .comma = true}; /* continues after "Nodes" */
    if (!node_pieces(args, result, arena, response)) {
        extender_filter_error("no memory for the answer", response);
        return;
    }
    strbuf_append_str(&tail, STR("]}"));
    json_key(&w, STR("NodeNames"));
    json_put_null(&w);
    encode_tail(&w, args, result);
    response->pieces[response->piece_count++] = arena_str(arena, strbuf_str(&tail));
    bool whole = !strbuf_failed(&tail) && !arena_failed(arena);
    strbuf_done(&tail);
    if (whole)
        http_answer_json(response, 200);
    else
        extender_filter_error("no memory for the answer", response);
}

void extender_filter_encode(const struct extender_args *args, const struct filter_result *result,
                            struct arena *arena, struct http_response *response) {
    if (args->nodes != NULL) {
        filter_encode_nodes(args, result, arena, response);
        return;
    }
    if (name_list_filter(args, result, arena, &response->text)) {
        http_answer_json(response, 200);
        return;
    }
    struct json_writer w = {.out = &response->text};
    reserve_names(args, 8, &response->text);
    json_begin_object(&w);
    json_key(&w, STR("Nodes"));
    json_put_null(&w);
    json_key(&w, STR("NodeNames"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < args->candidates.count; i++)
        if (passes(result, i))
            put_name(&w, args, args->candidates.names[i]);
    json_end_array(&w);
    encode_tail(&w, args, result);
    http_answer_json(response, 200);
}

void extender_filter_error(const char *message, struct http_response *response) {
    struct json_writer w = {.out = &response->text};
    strbuf_clear(&response->text);
    response->pieces = NULL;
    json_begin_object(&w);
    json_key(&w, STR("NodeNames"));
    json_begin_array(&w);
    json_end_array(&w);
    json_key(&w, STR("Error"));
    json_put_text(&w, str_of(message));
    json_end_object(&w);
    http_answer_json(response, 200);
}

void extender_prioritize_encode(const struct extender_args *args, const struct score_result *result,
                                struct http_response *response) {
    struct strbuf *out = &response->text;
    struct json_writer w = {.out = out};
    uint32_t count = result == NULL || result->column_count == 0 ? 0 : args->candidates.count;
    if (count > 0 && name_list_scores(args, result, out)) {
        http_answer_json(response, 200);
        return;
    }
    if (count > 0)
        reserve_names(args, 24, out);
    json_begin_array(&w);
    for (uint32_t i = 0; i < count; i++) {
        /* writes the keys without json_key(), for speed: this is the longest answer of all */
        json_put_raw(&w, STR("{\"Host\":"));
        w.comma = false;
        put_name(&w, args, args->candidates.names[i]);
        strbuf_append_str(out, STR(",\"Score\":"));
        w.comma = false;
        json_put_integer(&w, result->priorities[i]);
        strbuf_append_char(out, '}');
    }
    json_end_array(&w);
    http_answer_json(response, 200);
}

void extender_preemption_encode(const struct extender_preemption_args *args, const bool *fits,
                                struct http_response *response) {
    struct json_writer w = {.out = &response->text};
    json_begin_object(&w);
    json_key(&w, STR("NodeNameToMetaVictims"));
    json_begin_object(&w);
    for (uint32_t i = 0; i < args->count; i++) {
        const struct extender_victims *v = &args->victims[i];
        if (fits != NULL && !fits[i])
            continue;
        json_key(&w, v->preemption.node);
        json_begin_object(&w);
        json_key(&w, STR("Pods"));
        json_begin_array(&w);
        for (uint32_t p = 0; p < v->preemption.victim_count; p++) {
            json_begin_object(&w);
            json_put_member(&w, STR("UID"), v->preemption.victims[p].uid);
            json_end_object(&w);
        }
        json_end_array(&w);
        json_key(&w, STR("NumPDBViolations"));
        json_put_integer(&w, v->pdb_violations);
        json_end_object(&w);
    }
    json_end_object(&w);
    json_end_object(&w);
    http_answer_json(response, 200);
}

void extender_bind_encode(const char *error, struct http_response *response) {
    struct json_writer w = {.out = &response->text};
    strbuf_clear(&response->text);
    json_begin_object(&w);
    json_key(&w, STR("Error"));
    json_put_text(&w, str_of(error));
    json_end_object(&w);
    http_answer_json(response, 200);
}

void extender_refuse(int status, const char *message, struct http_response *response) {
    extender_bind_encode(message, response); /* its answer has the same form */
    response->status = status;
}
