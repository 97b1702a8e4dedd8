#include "unit/kube/election/lease_store.h"

#include "base/json_reader.h"
#include "unit/unit.h"

#include <ctype.h>
#include <stdio.h>

#define PATH "/apis/coordination.k8s.io/v1/namespaces/evenkeel/leases"

/* What a client has sent. */
struct sent {
    struct arena arena;
    struct str version, uid, labels, spec;
};

void lease_store_done(struct lease_store *s) {
    strbuf_done(&s->spec);
    *s = (struct lease_store){0};
}

static void set_spec(struct lease_store *s, struct str spec) {
    strbuf_clear(&s->spec);
    strbuf_append_str(&s->spec, spec);
    s->version++;
}

static void put_object(const struct lease_store *s, struct strbuf *to) {
    strbuf_appendf(to,
                   "{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{"
                   "\"name\":\"controller\",\"namespace\":\"evenkeel\",\"uid\":\"uid-%llu\","
                   "\"resourceVersion\":\"%llu\",",
                   (unsigned long long)s->uid, (unsigned long long)s->version);
    if (s->label > 0)
        strbuf_appendf(to, "\"labels\":{\"touched\":\"%llu\"},", (unsigned long long)s->label);
    strbuf_appendf(to, "\"managedFields\":[{\"manager\":\"x\"}]},\"spec\":%.*s}\n", (int)s->spec.n,
                   s->spec.p);
}

static int refuse(struct strbuf *answer, int status, const char *reason) {
    strbuf_appendf(answer,
                   "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
                   "\"message\":\"it is %s\",\"reason\":\"%s\",\"code\":%d}",
                   reason, reason, status);
    return status;
}

static void read_metadata(struct json_reader *r, struct sent *sent) {
    struct str key;
    assert_true(json_object(r));
    while (json_member(r, &key)) {
        assert_false(str_eq(key, STR("managedFields")));
        if (str_eq(key, STR("uid")))
            sent->uid = json_string(r);
        else if (str_eq(key, STR("resourceVersion")))
            sent->version = json_string(r);
        else if (str_eq(key, STR("labels")))
            sent->labels = json_skip(r);
        else
            (void)json_skip(r);
    }
}

static void read_sent(struct str body, struct sent *sent) {
    struct json_reader r;
    struct str key, kind = {0}, version = {0};
    *sent = (struct sent){0};
    arena_init(&sent->arena, 1 << 20);
    json_reader_init(&r, body, &sent->arena, "Lease");
    assert_true(json_object(&r));
    while (json_member(&r, &key)) {
        if (str_eq(key, STR("kind")))
            kind = json_string(&r);
        else if (str_eq(key, STR("apiVersion")))
            version = json_string(&r);
        else if (str_eq(key, STR("metadata")))
            read_metadata(&r, sent);
        else if (str_eq(key, STR("spec")))
            sent->spec = json_skip(&r);
        else
            (void)json_skip(&r);
    }
    assert_int_equal(json_finish(&r, NULL), 0);
    assert_str(kind, "Lease");
    assert_str(version, "coordination.k8s.io/v1");
}

struct str lease_store_spec(const struct lease_store *s, const char *member) {
    struct str key, found = STR("");
    struct arena arena;
    struct json_reader r;
    if (!s->exists)
        return found;
    arena_init(&arena, 1 << 20);
    json_reader_init(&r, strbuf_str(&s->spec), &arena, "spec");
    assert_true(json_object(&r));
    while (json_member(&r, &key)) {
        struct str value = json_skip(&r);
        if (str_eq(key, str_of(member))) {
            assert_true(str_empty(found)); /* no member twice */
            found = value;
        }
    }
    assert_int_equal(json_finish(&r, NULL), 0);
    arena_done(&arena);
    return found;
}

/* "2006-01-02T15:04:05.000000Z", quoted: what Go's MicroTime reads. */
static void check_time(struct str text) {
    static const char form[] = "\"dddd-dd-ddTdd:dd:dd.ddddddZ\"";
    assert_int_equal(text.n, sizeof form - 1);
    for (size_t i = 0; i < text.n; i++)
        assert_true(form[i] == 'd' ? isdigit((unsigned char)text.p[i]) : text.p[i] == form[i]);
}

static void check_spec(const struct lease_store *s) {
    int64_t number = -1;
    check_time(lease_store_spec(s, "renewTime"));
    check_time(lease_store_spec(s, "acquireTime"));
    assert_true(str_to_i64(lease_store_spec(s, "leaseDurationSeconds"), &number) && number > 0);
    assert_true(str_to_i64(lease_store_spec(s, "leaseTransitions"), &number));
    assert_true(number >= 0 && number <= INT32_MAX);
    assert_true(str_has_prefix(lease_store_spec(s, "holderIdentity"), STR("\"")));
}

static void create(struct lease_store *s, const struct sent *sent, struct strbuf *answer) {
    s->exists = true;
    s->uid++;
    s->label = 0;
    set_spec(s, sent->spec);
    check_spec(s);
    s->writes++;
    put_object(s, answer);
}

/* upstream: apiserver pkg/registry/generic/registry/store.go Update, with AllowCreateOnUpdate. */
static int update(struct lease_store *s, const struct sent *sent, struct strbuf *answer) {
    char uid[40], version[40], labels[64];
    (void)snprintf(uid, sizeof uid, "uid-%llu", (unsigned long long)s->uid);
    (void)snprintf(version, sizeof version, "%llu", (unsigned long long)s->version);
    if (!s->exists && str_empty(sent->uid)) {
        create(s, sent, answer);
        return 201;
    }
    if (str_empty(sent->version))
        return refuse(answer, 422, "Invalid");
    if (!s->exists || !str_eq(sent->uid, str_of(uid)) || !str_eq(sent->version, str_of(version))) {
        s->conflicts++;
        return refuse(answer, 409, "Conflict");
    }
    (void)snprintf(labels, sizeof labels, "{\"touched\":\"%llu\"}", (unsigned long long)s->label);
    assert_str(sent->labels, s->label > 0 ? labels : "");
    if (!str_eq(sent->spec, strbuf_str(&s->spec))) {
        set_spec(s, sent->spec);
        check_spec(s);
        s->writes++;
    }
    put_object(s, answer);
    return 200;
}

int lease_store_call(struct lease_store *s, const char *method, const char *path, struct str body,
                     struct strbuf *answer) {
    struct sent sent;
    int status = 200;
    strbuf_clear(answer);
    if (strcmp(method, "GET") == 0) {
        assert_string_equal(path, PATH "/controller");
        assert_true(str_empty(body));
        if (!s->exists)
            return refuse(answer, 404, "NotFound");
        put_object(s, answer);
        return 200;
    }
    read_sent(body, &sent);
    if (strcmp(method, "POST") == 0) {
        assert_string_equal(path, PATH "?fieldManager=evenkeel");
        status = s->exists ? refuse(answer, 409, "AlreadyExists") : 201;
        if (status == 201)
            create(s, &sent, answer);
    } else {
        assert_string_equal(method, "PUT");
        assert_string_equal(path, PATH "/controller?fieldManager=evenkeel");
        status = update(s, &sent, answer);
    }
    arena_done(&sent.arena);
    return status;
}

void lease_store_label(struct lease_store *s) {
    if (!s->exists)
        return;
    s->label++;
    s->version++;
}

void lease_store_set(struct lease_store *s, const char *spec) {
    s->uid += s->exists ? 0 : 1;
    s->exists = true;
    set_spec(s, str_of(spec));
}

void lease_store_delete(struct lease_store *s) {
    s->exists = false;
    s->version++;
}
