#include "kube/election/lease_record.h"

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "model/names.h"

#include <errno.h>

/* ---- reading ---- */

static void read_metadata(struct json_reader *r, struct lease_record *record) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("uid")))
            record->uid = json_string(r);
        else if (str_eq(key, STR("resourceVersion")))
            record->version = json_string(r);
    }
}

static void read_spec(struct json_reader *r, struct lease_record *record) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("holderIdentity")))
            record->holder = json_string(r);
        else if (str_eq(key, STR("leaseDurationSeconds")))
            record->duration_s = json_integer(r, 0, INT32_MAX);
        else if (str_eq(key, STR("acquireTime")))
            record->acquire_time = json_string(r);
        else if (str_eq(key, STR("renewTime")))
            record->renew_time = json_string(r);
        else if (str_eq(key, STR("leaseTransitions")))
            record->transitions = json_integer(r, 0, INT32_MAX);
    }
}

int lease_record_read(struct str json, struct arena *arena, struct lease_record *ret,
                      struct err *err) {
    struct lease_record record = {0};
    struct json_reader r;
    struct str key, kind = {0};
    json_reader_init(&r, json, arena, LEASE_KIND);
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("kind")))
                kind = json_string(&r);
            else if (str_eq(key, STR("metadata")))
                read_metadata(&r, &record);
            else if (str_eq(key, STR("spec")))
                read_spec(&r, &record);
        }
    int e = json_finish(&r, err);
    if (e == 0 && !str_eq(kind, STR(LEASE_KIND)))
        e = err_set(err, -EINVAL, "expected a Lease, found kind '%.*s'", STR_ARG(kind));
    if (e == 0 && str_empty(record.version))
        e = err_set(err, -EINVAL, "the Lease has no resourceVersion");
    if (e == 0)
        *ret = record;
    return e;
}

struct hash128 lease_record_hash(const struct lease_record *record) {
    const struct {
        struct hash128 holder, acquire_time, renew_time;
        int64_t duration_s, transitions;
    } parts = {
        hash_bytes128(record->holder.p, record->holder.n),
        hash_bytes128(record->acquire_time.p, record->acquire_time.n),
        hash_bytes128(record->renew_time.p, record->renew_time.n),
        record->duration_s,
        record->transitions,
    };
    return hash_bytes128(&parts, sizeof parts);
}

/* ---- writing ---- */

static bool is_ours(struct str key) {
    return str_eq(key, STR("holderIdentity")) || str_eq(key, STR("leaseDurationSeconds")) ||
           str_eq(key, STR("acquireTime")) || str_eq(key, STR("renewTime")) ||
           str_eq(key, STR("leaseTransitions"));
}

static bool is_managed_fields(struct str key) {
    return str_eq(key, STR("managedFields"));
}

/* Copies the members of the next object, but leaves out members for which drop() is true. */
static void copy_members(struct json_writer *w, struct json_reader *r, bool (*drop)(struct str)) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        struct str value = json_skip(r);
        if (drop(key))
            continue;
        json_key(w, key);
        json_put_raw(w, value);
    }
}

static void put_record(struct json_writer *w, const struct lease_record *record) {
    json_put_member(w, STR("holderIdentity"), record->holder);
    json_key(w, STR("leaseDurationSeconds"));
    json_put_integer(w, record->duration_s);
    json_put_member(w, STR("acquireTime"), record->acquire_time);
    json_put_member(w, STR("renewTime"), record->renew_time);
    json_key(w, STR("leaseTransitions"));
    json_put_integer(w, record->transitions);
}

void lease_record_update(struct str object, const struct lease_record *record, struct arena *arena,
                         struct strbuf *out) {
    struct json_writer w = {.out = out};
    struct json_reader r, spec;
    struct str key;
    json_reader_init(&r, object, arena, LEASE_KIND);
    json_reader_init(&spec, STR("null"), arena, "Lease.spec");
    json_begin_object(&w);
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("spec"))) {
                json_reader_init(&spec, json_skip(&r), arena, "Lease.spec");
                continue;
            }
            json_key(&w, key);
            if (str_eq(key, STR("metadata"))) {
                json_begin_object(&w);
                copy_members(&w, &r, is_managed_fields);
                json_end_object(&w);
            } else {
                json_put_raw(&w, json_skip(&r));
            }
        }
    json_key(&w, STR("spec"));
    json_begin_object(&w);
    copy_members(&w, &spec, is_ours);
    put_record(&w, record);
    json_end_object(&w);
    json_end_object(&w);
}

void lease_record_create(struct str namespace, struct str name, const struct lease_record *record,
                         struct strbuf *out) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_member(&w, STR("apiVersion"), STR(COORDINATION_API));
    json_put_member(&w, STR("kind"), STR(LEASE_KIND));
    json_key(&w, STR("metadata"));
    json_begin_object(&w);
    json_put_member(&w, STR("namespace"), namespace);
    json_put_member(&w, STR("name"), name);
    json_end_object(&w);
    json_key(&w, STR("spec"));
    json_begin_object(&w);
    put_record(&w, record);
    json_end_object(&w);
    json_end_object(&w);
}
