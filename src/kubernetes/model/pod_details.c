#include "model/pod_details.h"

#include "base/json_fields.h"

#include <stddef.h>

/* Reads one member of an object into `into`. Returns false if the function does not know the
 * member. */
typedef bool member_fn(struct json_reader *r, struct str key, void *into);

static void read_object(struct json_reader *r, member_fn *member, void *into) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (!member(r, key, into))
            (void)json_skip(r); /* no other member is needed; errors stay in r */
}

/* ---- node affinity ---- */

/* Returns where the next value begins. */
static size_t start(struct json_reader *r) {
    (void)json_peek(r); /* skips blanks */
    return json_offset(r);
}

static bool term_member(struct json_reader *r, struct str key, void *into) {
    struct written_term *term = into;
    if (str_eq(key, STR("matchExpressions"))) {
        size_t from = start(r);
        term->expressions = label_expressions_decode(r, &term->expression_count);
        term->expressions_text = (struct str){r->begin + from, json_offset(r) - from};
    } else if (str_eq(key, STR("matchFields"))) {
        term->fields = label_expressions_decode(r, &term->field_count);
    } else {
        return false;
    }
    return true;
}

static void read_term(struct json_reader *r, void *into) {
    struct written_term *term = into;
    size_t from = start(r);
    read_object(r, term_member, term);
    term->text = (struct str){r->begin + from, json_offset(r) - from};
}

static bool preference_member(struct json_reader *r, struct str key, void *into) {
    if (!str_eq(key, STR("preference")))
        return false;
    read_term(r, into);
    return true;
}

static void read_preference(struct json_reader *r, void *into) {
    read_object(r, preference_member, into);
}

static bool selector_member(struct json_reader *r, struct str key, void *into) {
    struct written_affinity *a = into;
    if (!str_eq(key, STR("nodeSelectorTerms")))
        return false;
    a->terms = json_array_of(r, sizeof *a->terms, UINT32_MAX, read_term, &a->term_count);
    return true;
}

static bool node_affinity_member(struct json_reader *r, struct str key, void *into) {
    struct written_affinity *a = into;
    if (str_eq(key, STR("requiredDuringSchedulingIgnoredDuringExecution"))) {
        a->required = json_peek(r) == JSON_OBJECT;
        read_object(r, selector_member, a);
    } else if (str_eq(key, STR("preferredDuringSchedulingIgnoredDuringExecution"))) {
        a->prefers = json_peek(r) == JSON_ARRAY;
        a->preferences = json_array_of(r, sizeof *a->preferences, UINT32_MAX, read_preference,
                                       &a->preference_count);
    } else {
        return false;
    }
    return true;
}

static bool affinity_member(struct json_reader *r, struct str key, void *into) {
    struct written_affinity *a = into;
    if (!str_eq(key, STR("nodeAffinity")))
        return false;
    a->present = json_peek(r) == JSON_OBJECT;
    read_object(r, node_affinity_member, a);
    return true;
}

/* ---- volumes and mounts ---- */

struct reading {
    struct pod_details *details;
    uint32_t claim_cap, mount_cap;
    struct pod_mount at; /* the mount that is being read */
};

static bool volume_member(struct json_reader *r, struct str key, void *into) {
    static const struct json_field claim_name[] = {
        JSON_TEXT("claimName", struct pod_volume, claim)};
    struct pod_volume *volume = into;
    if (str_eq(key, STR("name")))
        volume->name = json_string(r);
    else if (str_eq(key, STR("persistentVolumeClaim")))
        json_fields(r, &JSON_ROWS(claim_name), volume);
    else
        return false;
    return true;
}

static void read_volumes(struct json_reader *r, struct reading *reading) {
    struct pod_details *d = reading->details;
    if (!json_array(r))
        return;
    while (json_element(r)) {
        struct pod_volume volume = {.name = {0}};
        read_object(r, volume_member, &volume);
        d->volume_count++;
        if (str_empty(volume.claim))
            continue;
        struct pod_volume *grown =
            arena_push(r->arena, d->claims, d->claim_count, &reading->claim_cap, sizeof *grown);
        if (grown == NULL)
            return; /* the arena has failed */
        d->claims = grown;
        d->claims[d->claim_count++] = volume;
    }
}

static bool mount_member(struct json_reader *r, struct str key, void *into) {
    struct pod_mount *mount = into;
    if (str_eq(key, STR("name")))
        mount->volume = json_string(r);
    else if (str_eq(key, STR("mountPropagation")))
        mount->propagates = !str_empty(json_string(r));
    else
        return false;
    return true;
}

static bool container_member(struct json_reader *r, struct str key, void *into) {
    struct reading *reading = into;
    struct pod_details *d = reading->details;
    if (!str_eq(key, STR("volumeMounts")))
        return false;
    if (!json_array(r))
        return true;
    for (reading->at.mount = 0; json_element(r); reading->at.mount++) {
        struct pod_mount mount = reading->at;
        read_object(r, mount_member, &mount);
        struct pod_mount *grown =
            arena_push(r->arena, d->mounts, d->mount_count, &reading->mount_cap, sizeof *grown);
        if (grown == NULL)
            return true; /* the arena has failed */
        d->mounts = grown;
        d->mounts[d->mount_count++] = mount;
    }
    return true;
}

static void read_containers(struct json_reader *r, bool init, struct reading *reading) {
    if (!json_array(r))
        return;
    reading->at = (struct pod_mount){.in_init_container = init};
    for (; json_element(r); reading->at.container++)
        read_object(r, container_member, reading);
}

/* ---- the pod ---- */

static bool spec_member(struct json_reader *r, struct str key, void *into) {
    struct reading *reading = into;
    if (str_eq(key, STR("volumes")))
        read_volumes(r, reading);
    else if (str_eq(key, STR("containers")) || str_eq(key, STR("initContainers")))
        read_containers(r, str_eq(key, STR("initContainers")), reading);
    else if (str_eq(key, STR("affinity")))
        read_object(r, affinity_member, &reading->details->affinity);
    else
        return false;
    return true;
}

static bool metadata_member(struct json_reader *r, struct str key, void *into) {
    struct pod_details *d = into;
    if (str_eq(key, STR("namespace")))
        d->namespace = json_string(r);
    else if (str_eq(key, STR("annotations")))
        d->annotations = labels_decode(r);
    else
        return false;
    return true;
}

/* Reads one member of the pod, and nothing after this member. */
static int read_part(struct str pod, struct str part, member_fn *member, void *into,
                     struct arena *arena, struct err *err) {
    struct json_reader r;
    struct str key;
    bool found = false;
    json_reader_init(&r, pod, arena, "Pod");
    if (json_object(&r))
        while (!found && json_member(&r, &key)) {
            found = str_eq(key, part);
            if (found)
                read_object(&r, member, into);
        }
    return json_check(&r, err);
}

int pod_details_read_metadata(struct str pod, struct arena *arena, struct pod_details *ret,
                              struct err *err) {
    return read_part(pod, STR("metadata"), metadata_member, ret, arena, err);
}

int pod_details_read_spec(struct str pod, struct arena *arena, struct pod_details *ret,
                          struct err *err) {
    struct reading reading = {.details = ret};
    return read_part(pod, STR("spec"), spec_member, &reading, arena, err);
}
