#include "model/object.h"

#include "base/json_fields.h"

/* A volume: the name of its claim, or its image; or Kubernetes makes a claim for the volume. */
struct volume {
    struct str claim, image;
    bool makes_claim;
};

static struct volume volume_decode(struct json_reader *r) {
    static const struct json_field name_field[] = {JSON_TEXT_ALONE("claimName")},
                                   reference_field[] = {JSON_TEXT_ALONE("reference")};
    struct volume volume = {.makes_claim = false};
    struct str key;
    if (!json_object(r))
        return volume;
    while (json_member(r, &key))
        if (str_eq(key, STR("persistentVolumeClaim")))
            json_fields(r, &JSON_ROWS(name_field), &volume.claim);
        else if (str_eq(key, STR("image")))
            json_fields(r, &JSON_ROWS(reference_field), &volume.image);
        else if (str_eq(key, STR("ephemeral")))
            volume.makes_claim = json_peek(r) == JSON_OBJECT;
    return volume;
}

/* Returns the name that container runtimes use. upstream: imagelocality normalizedImageName(). */
static struct str image_name(struct str name, struct arena *arena) {
    static const char latest[] = ":latest";
    size_t slash = 0, colon = 0; /* the position after the last '/' or ':' */
    for (size_t i = 0; i < name.n; i++) {
        slash = name.p[i] == '/' ? i + 1 : slash;
        colon = name.p[i] == ':' ? i + 1 : colon;
    }
    char *p = colon > slash ? NULL : arena_alloc(arena, name.n + sizeof latest);
    if (p == NULL)
        return name;
    if (name.n > 0)
        memcpy(p, name.p, name.n);
    memcpy(p + name.n, latest, sizeof latest);
    return (struct str){p, name.n + sizeof latest - 1};
}

static void add_image(struct json_reader *r, struct pod *pod, struct str name) {
    struct str *images =
        arena_push(r->arena, pod->images, pod->image_count, &pod->image_cap, sizeof *images);
    if (images == NULL)
        return; /* the arena has failed */
    images[pod->image_count++] = image_name(name, r->arena);
    pod->images = images;
}

/* Reads claims and images of volumes. Skips claims beyond LIMIT_CLAIMS: claims only improve a
 * score, so too many claims are no reason to refuse a pod. */
static void volumes_decode(struct json_reader *r, enum pod_detail detail, struct pod *pod) {
    struct str *claims = NULL;
    uint32_t count = 0, cap = 0;
    if (detail == POD_RUNNING && json_peek(r) != JSON_ARRAY) {
        (void)json_skip(r); /* the pod counts without its volumes; errors stay in r */
        return;
    }
    if (!json_array(r))
        return;
    while (json_element(r)) {
        const struct volume volume = volume_decode(r);
        struct str name = volume.claim;
        pod->makes_claims |= volume.makes_claim;
        if (detail == POD_SCORED && volume.image.n > 0)
            add_image(r, pod, volume.image);
        if (name.n == 0 || count == LIMIT_CLAIMS)
            continue;
        claims = arena_push(r->arena, claims, count, &cap, sizeof *claims);
        if (claims == NULL)
            return; /* the arena has failed */
        claims[count++] = name;
    }
    pod->claims = claims;
    pod->claim_count = count;
}

static void affinities_decode(struct json_reader *r, enum pod_detail detail, struct pod *pod) {
    bool preferences = detail != POD_WHOLE;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (detail == POD_SCORED && str_eq(key, STR("nodeAffinity")))
            node_affinity_decode_all(r, &pod->affinity);
        else if (str_eq(key, STR("nodeAffinity")))
            node_affinity_decode(r, &pod->affinity);
        else if (str_eq(key, STR("podAffinity")))
            pod->beside = pod_affinity_decode(r, preferences);
        else if (str_eq(key, STR("podAntiAffinity")))
            pod->apart = pod_affinity_decode(r, preferences);
    }
}

/* Reads the schedulingGates. Kueue's gate is special: Kueue adds nodeSelectors to the pod before it
 * removes the gate. */
static void gates_decode(struct json_reader *r, struct pod *pod) {
    static const struct json_field name_field[] = {JSON_TEXT_ALONE("name")};
    pod->has_gates = pod->gated = false;
    if (json_null(r) || !json_array(r))
        return;
    while (json_element(r)) {
        struct str name = {0};
        json_fields(r, &JSON_ROWS(name_field), &name); /* errors stay in r */
        pod->has_gates = true;
        pod->gated = pod->gated || str_has_prefix(name, STR("kueue.x-k8s.io/"));
    }
}

/* Facts about a pod without a node that are read with POD_RUNNING. */
struct waiting {
    bool hard, gated;
};

/* Is there a hard constraint? Skips values of another JSON type: the pod counts without them. */
static bool any_is_hard(struct json_reader *r) {
    struct str key;
    bool hard = false;
    if (json_peek(r) != JSON_ARRAY) {
        (void)json_skip(r); /* errors stay in r */
        return false;
    }
    (void)json_array(r); /* its type was checked */
    while (json_element(r)) {
        if (json_peek(r) != JSON_OBJECT) {
            (void)json_skip(r);
            continue;
        }
        (void)json_object(r); /* its type was checked */
        while (json_member(r, &key))
            if (str_eq(key, STR("whenUnsatisfiable")))
                hard = str_eq(json_skip(r), STR("\"DoNotSchedule\"")) || hard;
    }
    return hard;
}

static void waiting_decode(struct json_reader *r, struct str key, struct waiting *ret) {
    if (str_eq(key, STR("topologySpreadConstraints")))
        ret->hard = any_is_hard(r);
    else if (str_eq(key, STR("schedulingGates")))
        ret->gated = json_skip(r).n > STR("[]").n; /* an API server writes an array without blanks
                                                    */
    else
        (void)json_skip(r); /* counting needs no other member; errors stay in r */
}

static void spec_decode(struct json_reader *r, enum pod_detail detail, struct pod *pod,
                        struct requests_decoder *requests) {
    struct waiting waiting = {false, false};
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("nodeName")))
            pod->node_name = json_string(r);
        else if (requests_decode_spec(r, key, requests))
            continue;
        else if (str_eq(key, STR("affinity")))
            affinities_decode(r, detail, pod);
        else if (str_eq(key, STR("nodeSelector")))
            pod->affinity.node_selector = labels_decode(r);
        else if (str_eq(key, STR("tolerations")))
            pod->tolerations = tolerations_decode(r);
        else if (str_eq(key, STR("volumes")))
            volumes_decode(r, detail, pod);
        else if (str_eq(key, STR("schedulerName")))
            pod->scheduler = json_string(r);
        else if (detail == POD_RUNNING)
            waiting_decode(r, key, &waiting);
        else if (str_eq(key, STR("topologySpreadConstraints")))
            pod->constraints = spread_constraints_decode(r, &pod->constraint_count);
        else if (str_eq(key, STR("schedulingGates")))
            gates_decode(r, pod);
    }
    pod->waits_hard = detail == POD_RUNNING && str_empty(pod->node_name) && !waiting.gated &&
                      (waiting.hard || pod->claim_count > 0);
}

static void status_decode(struct json_reader *r, struct pod *pod,
                          struct requests_decoder *requests) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("phase"))) {
            struct str phase = json_string(r);
            pod->finished = str_eq(phase, STR("Succeeded")) || str_eq(phase, STR("Failed"));
        } else if (!requests_decode_status(r, key, requests)) {
            (void)json_skip(r); /* no other member is needed; errors stay in r */
        }
    }
}

void pod_decode(struct json_reader *r, enum pod_detail detail, struct pod *ret) {
    struct requests_decoder requests = {0};
    struct str key;
    *ret = (struct pod){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata")))
            meta_decode(r, &ret->meta);
        else if (str_eq(key, STR("spec")))
            spec_decode(r, detail, ret, &requests);
        else if (str_eq(key, STR("status")))
            status_decode(r, ret, &requests);
    }
    requests_finish(r, &requests, detail == POD_RUNNING, &ret->requests);
    for (uint32_t i = 0; detail == POD_SCORED && i < requests_containers(&requests); i++) {
        add_image(r, ret, requests_image(&requests, i));
        ret->containers++;
    }
    if (ret->meta.namespace.n == 0)
        ret->meta.namespace = STR("default"); /* kubectl's default namespace */
}

int pod_as_stored(struct pod *pod, struct arena *arena) {
    if (!str_empty(pod->meta.uid))
        return 0;
    int r = pod_affinity_merge_keys(&pod->beside, &pod->meta.labels, arena);
    return r == 0 ? pod_affinity_merge_keys(&pod->apart, &pod->meta.labels, arena) : r;
}
