#include "policy/batch.h"

#include "base/json_fields.h"
#include "base/limits.h"
#include "model/names.h"
#include "yaml/manifests.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#define API_VERSION STR(EVENKEEL_API)
#define KIND STR(POLICY_KIND)
enum { ARENA_BYTES = 64 << 20 };

struct policy_batch {
    struct manifests files; /* the files' texts, or `text`, own the policies' strings */
    struct strbuf text;
    struct arena arena;
    struct policy_status status;
    struct policy *items;
    uint32_t count, cap;
    _Atomic unsigned holders;
};

/* ---- life ---- */

static struct policy_batch *batch_new(struct err *err) {
    struct policy_batch *b = calloc(1, sizeof *b);
    if (b == NULL) {
        (void)err_set(err, -ENOMEM, "no memory for policies"); /* the caller returns the code */
        return NULL;
    }
    arena_init(&b->arena, ARENA_BYTES);
    atomic_init(&b->holders, 1);
    return b;
}

struct policy_batch *policy_batch_hold(struct policy_batch *b) {
    (void)atomic_fetch_add(&b->holders, 1); /* the old number does not matter */
    return b;
}

void policy_batch_release(struct policy_batch *b) {
    if (b == NULL || atomic_fetch_sub(&b->holders, 1) > 1)
        return;
    arena_done(&b->arena);
    manifests_done(&b->files);
    strbuf_done(&b->text);
    free(b);
}

const struct policy *policy_batch_items(const struct policy_batch *b, uint32_t *ret_count) {
    *ret_count = b != NULL ? b->count : 0;
    return b != NULL ? b->items : NULL;
}

const struct policy_status *policy_batch_status(const struct policy_batch *b) {
    return &b->status;
}

/* ---- files ---- */

static void add(struct json_reader *r, struct policy_batch *p) {
    struct policy policy;
    policy_decode(r, &policy);
    for (uint32_t i = 0; i < p->count; i++)
        if (str_eq(p->items[i].name, policy.name))
            json_fail(r, "a second policy with the name '%.*s'", STR_ARG(policy.name));
    if (p->count == LIMIT_POLICIES)
        json_fail(r, "more than %d policies", LIMIT_POLICIES);
    if (json_failed(r))
        return;
    struct policy *items = arena_push(&p->arena, p->items, p->count, &p->cap, sizeof *items);
    if (items == NULL)
        return; /* the reader reports the failed arena */
    p->items = items;
    p->items[p->count++] = policy;
}

/* Reads the next object; `kind` is used if the object itself has no kind. */
static void read_policy(struct json_reader *r, struct str kind, struct policy_batch *p) {
    struct str own = json_peek_member(r, STR("kind"));
    struct str version = json_peek_member(r, STR("apiVersion"));
    if (!str_empty(own) || !str_empty(version)) {
        kind = own;
        if (!str_eq(version, API_VERSION))
            json_fail(r, "apiVersion is '%.*s'; expected '%.*s'", STR_ARG(version),
                      STR_ARG(API_VERSION));
    }
    if (!json_failed(r) && !str_eq(kind, KIND))
        json_fail_kind(r, kind, KIND);
    if (!json_failed(r))
        add(r, p);
}

static void read_document(struct json_reader *r, struct policy_batch *p) {
    struct str key, kind = json_peek_member(r, STR("kind"));
    bool typed = str_eq(kind, STR(POLICY_LIST_KIND));
    if (!typed && !str_eq(kind, STR(LIST_KIND))) {
        read_policy(r, (struct str){0}, p);
        return;
    }
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("items")) && json_array(r))
                while (json_element(r))
                    read_policy(r, typed ? KIND : (struct str){0}, p);
        }
}

static int read_all(struct policy_batch *p, struct err *err) {
    for (size_t i = 0; i < p->files.count; i++)
        for (size_t d = 0; d < p->files.items[i].document_count; d++) {
            const struct manifest_file *file = &p->files.items[i];
            struct json_reader r;
            json_reader_init(&r, file->documents[d], &p->arena, "policy");
            read_document(&r, p);
            if (json_finish(&r, err) == 0)
                continue;
            return manifests_complain(&p->files, i, d, err);
        }
    return 0;
}

int policy_batch_read(const char *const *paths, size_t count, struct policy_batch **ret,
                      uint64_t *ret_seen, struct err *err) {
    *ret_seen = 0;
    struct policy_batch *b = batch_new(err);
    if (b == NULL)
        return -ENOMEM;
    int r = manifests_list(paths, count, "policy", &b->files, err);
    if (r == 0) {
        *ret_seen = manifests_fingerprint(&b->files); /* before reading, to see later changes */
        r = manifests_read(&b->files, LIMIT_CONFIG_BYTES, err);
    }
    if (r == 0)
        r = read_all(b, err);
    if (r == 0)
        *ret = b;
    else
        policy_batch_release(b);
    return r;
}

/* ---- a policy of an API server ---- */

/* Returns the object's name; "": none. */
static struct str name_of(struct str object, struct arena *arena) {
    static const struct json_field name_field[] = {JSON_TEXT_ALONE("name")};
    struct json_reader r;
    struct str key, name = {0};
    json_reader_init(&r, object, arena, "policy");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("metadata")))
                json_fields(&r, &JSON_ROWS(name_field), &name);
        }
    return json_finish(&r, NULL) == 0 ? arena_str(arena, name) : (struct str){0};
}

/* Makes a policy with only its name and its problem. */
static int keep_broken(struct policy_batch *b, struct str object, const char *why,
                       struct err *err) {
    struct policy broken = {.name = name_of(object, &b->arena),
                            .generation = b->status.generation,
                            .problem = arena_str(&b->arena, str_of(why))};
    if (arena_failed(&b->arena))
        return err_set(err, -ENOMEM, "no memory for a policy");
    if (str_empty(broken.name))
        return err_set(err, -EINVAL, "a policy without a name");
    b->items[0] = broken;
    return 0;
}

static int decode(struct policy_batch *b, struct str object, struct err *err) {
    struct json_reader r;
    struct err why = {0};
    b->items = arena_alloc(&b->arena, sizeof *b->items);
    if (b->items == NULL)
        return err_set(err, -ENOMEM, "no memory for a policy");
    b->count = 1;
    if (object.n > LIMIT_POLICY_BYTES) {
        (void)err_set(&why, -EFBIG, "larger than %d bytes", LIMIT_POLICY_BYTES); /* kept below */
        return keep_broken(b, object, why.text, err);
    }
    strbuf_append_str(&b->text, object);
    if (strbuf_failed(&b->text))
        return err_set(err, -ENOMEM, "no memory for a policy");
    json_reader_init(&r, strbuf_str(&b->text), &b->arena, "policy");
    policy_status_read(strbuf_str(&b->text), &b->arena, &b->status);
    policy_decode(&r, &b->items[0]);
    b->items[0].generation = b->status.generation;
    return json_finish(&r, &why) == 0 ? 0 : keep_broken(b, object, why.text, err);
}

int policy_batch_decode(struct str object, struct policy_batch **ret, struct err *err) {
    struct policy_batch *b = batch_new(err);
    if (b == NULL)
        return -ENOMEM;
    int r = decode(b, object, err);
    if (r == 0)
        *ret = b;
    else
        policy_batch_release(b);
    return r;
}
