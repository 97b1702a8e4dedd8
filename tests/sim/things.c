#include "sim/things.h"

#include "base/limits.h"

#include <string.h>

static const struct {
    const char *resource, *kind, *list_kind, *api_version, *path;
    uint32_t slots;
} kinds[OBJECT_KINDS] = {
    [OBJECT_NODE] = {"nodes", "Node", "NodeList", "v1", "/api/v1/nodes", 8},
    [OBJECT_POD] = {"pods", "Pod", "PodList", "v1", "/api/v1/pods", SIM_SLOTS},
    [OBJECT_NAMESPACE] = {"namespaces", "Namespace", "NamespaceList", "v1", "/api/v1/namespaces",
                          SIM_NAMESPACES},
    [OBJECT_SERVICE] = {"services", "Service", "ServiceList", "v1", "/api/v1/services", 4},
    [OBJECT_REPLICATION_CONTROLLER] = {"replicationcontrollers", "ReplicationController",
                                       "ReplicationControllerList", "v1",
                                       "/api/v1/replicationcontrollers", 4},
    [OBJECT_REPLICA_SET] = {"replicasets", "ReplicaSet", "ReplicaSetList", "apps/v1",
                            "/apis/apps/v1/replicasets", 4},
    [OBJECT_STATEFUL_SET] = {"statefulsets", "StatefulSet", "StatefulSetList", "apps/v1",
                             "/apis/apps/v1/statefulsets", 4},
};

uint32_t thing_slots(enum object_kind kind) {
    return kinds[kind].slots;
}

const char *thing_resource(enum object_kind kind) {
    return kinds[kind].resource;
}

const char *thing_list_kind(enum object_kind kind) {
    return kinds[kind].list_kind;
}

const char *thing_api_version(enum object_kind kind) {
    return kinds[kind].api_version;
}

const char *thing_path(enum object_kind kind) {
    return kinds[kind].path;
}

uint32_t thing_namespace(uint32_t slot) {
    return slot % SIM_NAMESPACES;
}

bool thing_selected(enum object_kind kind, const struct thing *thing) {
    return thing->exists && !(kind == OBJECT_POD && thing->phase >= PHASE_SUCCEEDED);
}

bool thing_held(enum object_kind kind, const struct thing *thing) {
    return thing_selected(kind, thing) && !(kind == OBJECT_POD && thing->node == SIM_NO_NODE);
}

const char *thing_label_key(enum object_kind kind, uint32_t key) {
    static const char *const of_pods[SIM_LABELS] = {"app", "tier"};
    static const char *const of_nodes[SIM_LABELS] = {"topology.kubernetes.io/zone",
                                                     "example.com/rack"};
    return kind == OBJECT_NODE ? of_nodes[key] : of_pods[key];
}

const char *thing_label_value(int8_t value) {
    static const char *const values[SIM_LABEL_VALUES] = {"", "a", "b"};
    return values[value];
}

void thing_want(uint8_t selector, int8_t want[SIM_LABELS]) {
    if (selector > 0)
        want[0] = (int8_t)selector;
    if (selector == 2)
        want[1] = 1;
}

bool thing_has(const int8_t labels[SIM_LABELS], const int8_t want[SIM_LABELS]) {
    bool has = true;
    for (uint32_t key = 0; key < SIM_LABELS; key++)
        has = has && (want[key] < 0 || labels[key] == want[key]);
    return has;
}

bool thing_selects(uint8_t selector, const int8_t labels[SIM_LABELS]) {
    int8_t want[SIM_LABELS];
    memset(want, -1, sizeof want);
    thing_want(selector, want);
    return selector > 0 && thing_has(labels, want);
}

/* ---- JSON ---- */

void thing_put_string(struct strbuf *out, struct str text) {
    strbuf_append_char(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c == '"' || c == '\\') {
            strbuf_append_char(out, '\\');
            strbuf_append_char(out, (char)c);
        } else if (c < ' ' || c == '<' || c == '>' || c == '&') {
            strbuf_appendf(out, "\\u%04x", c);
        } else {
            strbuf_append_char(out, (char)c);
        }
    }
    strbuf_append_char(out, '"');
}

static void put(struct strbuf *out, const char *text) {
    strbuf_append_str(out, str_of(text));
}

/* What no API server sends: a label that is no string. */
static void put_refused_labels(struct strbuf *out) {
    put(out, ",\"labels\":{\"app\":7}");
}

static void put_labels(enum object_kind kind, const struct thing *thing, struct strbuf *out) {
    if (thing->bulk == BULK_REFUSED) {
        put_refused_labels(out);
        return;
    }
    put(out, ",\"labels\":{");
    const char *comma = "";
    for (uint32_t key = 0; key < SIM_LABELS; key++)
        if (thing->labels[key] >= 0) {
            strbuf_appendf(out, "%s\"%s\":\"%s\"", comma, thing_label_key(kind, key),
                           thing_label_value(thing->labels[key]));
            comma = ",";
        }
    for (uint32_t i = 0; thing->bulk == BULK_LABELLED && i < SIM_MANY_LABELS; i++) {
        strbuf_appendf(out, "%s\"z%u\":\"\"", comma, SIM_MANY_LABELS - i);
        comma = ",";
    }
    put(out, "}");
}

static void put_filler(const struct thing *thing, struct strbuf *out) {
    if (thing->bulk != BULK_LARGE && thing->bulk != BULK_OVERSIZED)
        return;
    size_t n = thing->bulk == BULK_LARGE ? SIM_LARGE_BYTES : LIMIT_KUBE_EVENT + 1000;
    put(out, ",\"annotations\":{\"filler\":\"");
    char *to = strbuf_reserve(out, n);
    if (to != NULL) {
        memset(to, 'x', n);
        out->n += n;
    }
    put(out, "\"}");
}

static void put_metadata(enum object_kind kind, uint32_t slot, const struct thing *thing,
                         struct str version, struct thing_style style, struct strbuf *out) {
    bool namespaced = kind != OBJECT_NODE && kind != OBJECT_NAMESPACE;
    if (kind == OBJECT_NAMESPACE)
        strbuf_appendf(out, "\"metadata\":{\"name\":\"ns-%u\"", slot);
    else
        strbuf_appendf(out, "\"metadata\":{\"name\":\"%.4s-%u\"", thing_resource(kind), slot);
    if (namespaced)
        strbuf_appendf(out, ",\"namespace\":\"ns-%u\"", thing_namespace(slot));
    if (style.odd) {
        put_filler(thing, out);
        put_labels(kind, thing, out);
    }
    strbuf_appendf(out, ",\"uid\":\"uid-%u-%u\"", slot, thing->incarnation);
    if (!style.no_version) {
        put(out, ",\"resourceVersion\":");
        thing_put_string(out, version);
    }
    if (thing->terminating)
        put(out, ",\"deletionTimestamp\":\"2026-01-02T03:04:05Z\"");
    if (!style.odd) {
        put_labels(kind, thing, out);
        put_filler(thing, out);
    }
    put(out, "}");
}

static void put_selector(enum object_kind kind, uint8_t selector, struct strbuf *out) {
    static const char *const maps[SIM_SELECTORS] = {"", "{\"app\":\"a\"}",
                                                    "{\"app\":\"b\",\"tier\":\"a\"}"};
    bool map = kind == OBJECT_SERVICE || kind == OBJECT_REPLICATION_CONTROLLER;
    put(out, ",\"spec\":{");
    if (selector > 0)
        strbuf_appendf(out, map ? "\"selector\":%s" : "\"selector\":{\"matchLabels\":%s}",
                       maps[selector]);
    put(out, "}");
}

static void put_rest(enum object_kind kind, const struct thing *thing, struct strbuf *out) {
    static const char *const phases[] = {"Pending", "Running", "Succeeded", "Failed"};
    if (kind == OBJECT_NODE) {
        if (thing->tainted)
            put(out, ",\"spec\":{\"taints\":[{\"key\":\"k\",\"value\":\"v\","
                     "\"effect\":\"NoSchedule\"}]}");
    } else if (kind == OBJECT_POD) {
        put(out, ",\"spec\":{\"containers\":[{\"name\":\"c\"}]");
        if (thing->node != SIM_NO_NODE)
            strbuf_appendf(out, ",\"nodeName\":\"node-%u\"", thing->node);
        strbuf_appendf(out, "},\"status\":{\"phase\":\"%s\"}", phases[thing->phase]);
    } else if (kind != OBJECT_NAMESPACE) {
        put_selector(kind, thing->selector, out);
    }
}

void thing_write(enum object_kind kind, uint32_t slot, const struct thing *thing,
                 struct str version, struct thing_style style, struct strbuf *out) {
    put(out, "{");
    if (style.odd)
        put(out, "\"x-extension\":{\"metadata\":{\"resourceVersion\":\"wrong\"}},");
    else if (!style.bare)
        strbuf_appendf(out, "\"kind\":\"%s\",\"apiVersion\":\"%s\",", kinds[kind].kind,
                       kinds[kind].api_version);
    put_metadata(kind, slot, thing, version, style, out);
    put_rest(kind, thing, out);
    put(out, "}");
}
