#include "kube/objects/webhook_configuration.h"

#include "base/base64.h"
#include "base/json_fields.h"
#include "base/json_writer.h"
#include "model/names.h"

#include <string.h>

#define GROUP_PATH "/apis/" WEBHOOKS_API "/"

const struct webhook_kind_row webhook_kinds[WEBHOOK_KINDS] = {
    [WEBHOOK_MUTATING] = {MUTATING_WEBHOOKS_KIND, "mutatingwebhookconfigurations",
                          GROUP_PATH "mutatingwebhookconfigurations"},
    [WEBHOOK_VALIDATING] = {VALIDATING_WEBHOOKS_KIND, "validatingwebhookconfigurations",
                            GROUP_PATH "validatingwebhookconfigurations"},
};

/* ---- who wrote ---- */

struct manager {
    struct str name, time; /* RFC 3339 in UTC: sorts as text */
    bool owns_bundle;
};

static struct manager read_manager(struct json_reader *r) {
    static const char owned[] = "\"f:caBundle\"";
    struct manager m = {.owns_bundle = false};
    struct str key;
    if (!json_object(r))
        return m;
    while (json_member(r, &key))
        if (str_eq(key, STR("manager"))) {
            m.name = json_string(r);
        } else if (str_eq(key, STR("time"))) {
            m.time = json_string(r);
        } else {
            struct str value = json_skip(r); /* errors stay in r, here and below */
            if (str_eq(key, STR("fieldsV1")))
                m.owns_bundle = memmem(value.p, value.n, owned, sizeof owned - 1) != NULL;
        }
    return m;
}

static bool is_later(const struct manager *a, const struct manager *b) {
    return a->owns_bundle != b->owns_bundle ? a->owns_bundle : str_cmp(a->time, b->time) >= 0;
}

static struct manager read_writer(struct json_reader *r, struct str self) {
    struct manager last = {.owns_bundle = false};
    if (!json_array(r))
        return last;
    while (json_element(r)) {
        struct manager m = read_manager(r);
        if (!str_eq(m.name, self) && is_later(&m, &last))
            last = m;
    }
    return last;
}

/* ---- webhooks ---- */

/* "https://host:port/path" */
static struct str host_of(struct str url) {
    const struct str scheme = STR("https://");
    size_t n = 0;
    if (!str_has_prefix(url, scheme))
        return STR("");
    struct str rest = {url.p + scheme.n, url.n - scheme.n};
    bool brackets = rest.n > 0 && rest.p[0] == '[';
    while (n < rest.n && (brackets ? rest.p[n] != ']' : rest.p[n] != ':' && rest.p[n] != '/'))
        n++;
    return brackets ? (struct str){rest.p + 1, n - 1} : (struct str){rest.p, n};
}

static struct str read_service(struct json_reader *r) {
    struct service {
        struct str name, namespace;
    } said = {.name = {0}};
    static const struct json_field fields[] = {JSON_TEXT("name", struct service, name),
                                               JSON_TEXT("namespace", struct service, namespace)};
    json_fields(r, &JSON_ROWS(fields), &said);
    if (said.name.n == 0 || said.name.n > 253 || said.namespace.n > 253)
        return STR("");
    char text[520];
    size_t n = 0;
    memcpy(text, said.name.p, said.name.n);
    n += said.name.n;
    text[n++] = '.';
    if (said.namespace.n > 0)
        memcpy(text + n, said.namespace.p, said.namespace.n);
    n += said.namespace.n;
    memcpy(text + n, ".svc", 4);
    return arena_str(r->arena, (struct str){text, n + 4});
}

static void read_client(struct json_reader *r, struct webhook_entry *e) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR("service"))) {
            if (!json_null(r))
                e->host = read_service(r);
        } else if (str_eq(key, STR("url"))) {
            struct str url = json_string(r);
            if (url.n > 0)
                e->host = host_of(url);
        } else if (str_eq(key, STR("caBundle"))) {
            if (!base64_decode(json_string(r), r->arena, &e->bundle))
                e->bundle = STR("");
        }
}

static void read_entry(struct json_reader *r, void *into) {
    struct webhook_entry *e = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR("name")))
            e->name = json_string(r);
        else if (str_eq(key, STR("clientConfig")))
            read_client(r, e);
}

/* ---- the configuration ---- */

static void read_metadata(struct json_reader *r, struct str self, struct webhook_configuration *c) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR("uid"))) {
            c->uid = json_string(r);
        } else if (str_eq(key, STR("resourceVersion"))) {
            c->version = json_string(r);
        } else if (str_eq(key, STR("managedFields"))) {
            struct manager last = read_writer(r, self);
            c->writer = last.name;
            c->writer_owns_bundle = last.owns_bundle;
        }
}

int webhook_configuration_read(struct str object, struct str self, struct arena *arena,
                               struct webhook_configuration *ret, struct err *err) {
    struct webhook_configuration c = {.entry_count = 0};
    struct json_reader r;
    struct str key;
    json_reader_init(&r, object, arena, "webhook configuration");
    if (json_object(&r)) {
        while (json_member(&r, &key))
            if (str_eq(key, STR("metadata")))
                read_metadata(&r, self, &c);
            else if (str_eq(key, STR("webhooks")))
                c.entries = json_array_of(&r, sizeof *c.entries, WEBHOOK_ENTRIES_MAX, read_entry,
                                          &c.entry_count);
    }
    int result = json_finish(&r, err);
    if (result == 0)
        *ret = c;
    return result;
}

static void put_entry(struct json_writer *w, const struct webhook_entry *e, struct str bundle) {
    json_begin_object(w);
    json_put_member(w, STR("name"), e->name);
    json_key(w, STR("clientConfig"));
    json_begin_object(w);
    json_key(w, STR("caBundle"));
    json_put_raw(w, STR("\"")); /* base64 has nothing to escape */
    base64_append(w->out, bundle);
    strbuf_append_char(w->out, '"');
    json_end_object(w);
    json_end_object(w);
}

void webhook_configuration_put_patch(struct strbuf *out, const struct webhook_configuration *c,
                                     struct str bundle) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_key(&w, STR("metadata"));
    json_begin_object(&w);
    json_put_member(&w, STR("resourceVersion"), c->version);
    json_end_object(&w);
    json_key(&w, STR("webhooks"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < c->entry_count; i++)
        if (c->entries[i].wrong)
            put_entry(&w, &c->entries[i], bundle);
    json_end_array(&w);
    json_end_object(&w);
}
