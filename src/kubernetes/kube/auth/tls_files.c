#include "kube/auth/tls_files.h"

#include "base/limits.h"
#include "certs/inspect.h"

#include <errno.h>

enum {
    LOOK_MS = 10000,
    ARENA_BYTES = 32 * LIMIT_KUBE_CREDENTIAL_BYTES, /* to parse certificates */
};

struct str tls_source_str(const struct tls_source *s) {
    return s->from->file != NULL ? secret_str(&s->bytes) : s->from->data;
}

static bool is_set(const struct tls_source *s) {
    return s->from->file != NULL || s->from->data.n > 0;
}

static bool is_file(const struct tls_source *s) {
    return s->from->file != NULL;
}

static bool has_changed(const struct tls_source *s) {
    struct file_signature now = {0};
    if (!is_file(s))
        return false;
    now = file_sign(s->from->file);
    return !file_signature_eq(&now, &s->seen);
}

/* ---- reading ---- */

/* The present text of a source. */
struct reading {
    struct strbuf buffer; /* only for a file */
    struct str pem;
};

static void reading_done(struct reading *r) {
    secret_buffer_done(&r->buffer);
}

static int read_source(struct tls_source *s, struct reading *to, struct err *err) {
    to->pem = s->from->data;
    if (!is_file(s))
        return 0;
    s->seen = file_sign(s->from->file); /* signed before reading: a change during the reading is
                                           seen at the next check */
    int r = secret_read(s->from->file, &to->buffer, err);
    to->pem = strbuf_str(&to->buffer);
    return r;
}

static const char *name_of(const struct tls_source *s) {
    return is_file(s) ? s->from->file : s->data_name;
}

static void arena_cleanup(struct arena *arena) {
    arena_done(arena);
}

static int check_ca(const struct tls_source *s, struct str pem, struct err *err) {
    CLEANUP(arena_cleanup) struct arena arena;
    struct certificate *certificates;
    size_t count;
    arena_init(&arena, ARENA_BYTES);
    int r = certificates_read(pem, &arena, &certificates, &count, err);
    if (r != 0)
        (void)err_wrap(err, "certificate authority '%s'", name_of(s)); /* r says the same */
    return r;
}

static int check_pair(const struct tls_files *t, struct str certificate, struct str key,
                      struct err *err) {
    bool belongs = false;
    int r = certificate_has_key(certificate, key, &belongs, err);
    if (r != 0) {
        (void)err_wrap(err, "client certificate '%s' with key '%s'", name_of(&t->certificate),
                       name_of(&t->key)); /* r says the same */
        return r;
    }
    return belongs ? 0
                   : err_set(err, -EINVAL, "client key '%s' does not belong to certificate '%s'",
                             name_of(&t->key), name_of(&t->certificate));
}

static bool is_new(const struct tls_source *s, struct str pem) {
    return is_file(s) && !str_eq(pem, secret_str(&s->bytes));
}

static void swap(struct secret *a, struct secret *b) {
    struct secret was = *a;
    *a = *b;
    *b = was;
}

static int no_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for certificates");
}

static int load_ca(struct tls_files *t, bool *ret_changed, struct err *err) {
    CLEANUP(reading_done) struct reading ca = {.pem = {0}};
    int r = read_source(&t->ca, &ca, err);
    if (r == 0)
        r = check_ca(&t->ca, ca.pem, err);
    if (r != 0 || !is_new(&t->ca, ca.pem))
        return r;
    *ret_changed = true;
    return secret_set(&t->ca.bytes, ca.pem) == 0 ? 0 : no_memory(err);
}

/* Keeps both certificate and key, or neither. */
static int keep_pair(struct tls_files *t, struct str certificate, struct str key, struct err *err) {
    CLEANUP(secret_done) struct secret new_certificate = {0};
    CLEANUP(secret_done) struct secret new_key = {0};
    if (secret_set(&new_certificate, certificate) != 0 || secret_set(&new_key, key) != 0)
        return no_memory(err);
    swap(&t->certificate.bytes, &new_certificate);
    swap(&t->key.bytes, &new_key);
    return 0;
}

static int load_pair(struct tls_files *t, bool *ret_changed, struct err *err) {
    CLEANUP(reading_done) struct reading certificate = {.pem = {0}};
    CLEANUP(reading_done) struct reading key = {.pem = {0}};
    int r = read_source(&t->certificate, &certificate, err);
    if (r == 0)
        r = read_source(&t->key, &key, err);
    if (r == 0)
        r = check_pair(t, certificate.pem, key.pem, err); /* fails if the pair was replaced between
                                                             the two reads */
    if (r != 0 || (!is_new(&t->certificate, certificate.pem) && !is_new(&t->key, key.pem)))
        return r;
    *ret_changed = true;
    return keep_pair(t, certificate.pem, key.pem, err);
}

/* ---- life ---- */

int tls_files_init(struct tls_files *t, const struct kube_access *access, int64_t now_ms,
                   struct err *err) {
    bool changed;
    int r = 0;
    t->ca = (struct tls_source){&access->ca, .data_name = "certificate-authority-data"};
    t->certificate =
        (struct tls_source){&access->client_certificate, .data_name = "client-certificate-data"};
    t->key = (struct tls_source){&access->client_key, .data_name = "client-key-data"};
    t->looked_ms = now_ms;
    t->version = 1;
    if (is_set(&t->ca))
        r = load_ca(t, &changed, err);
    if (r == 0 && is_set(&t->certificate))
        r = load_pair(t, &changed, err);
    if (r != 0)
        return r;
    if (is_file(&t->ca))
        reload_init(&t->ca_reload, RELOAD_CA, access);
    if (is_file(&t->certificate) || is_file(&t->key))
        reload_init(&t->certificate_reload, RELOAD_CLIENT_CERTIFICATE, access);
    return 0;
}

void tls_files_done(struct tls_files *t) {
    reload_done(&t->ca_reload);
    reload_done(&t->certificate_reload);
    secret_done(&t->ca.bytes);
    secret_done(&t->certificate.bytes);
    secret_done(&t->key.bytes);
}

static void reload(struct tls_files *t, struct reload *outcome,
                   int (*load)(struct tls_files *, bool *, struct err *)) {
    struct err err = {0};
    bool changed = false;
    if (load(t, &changed, &err) != 0)
        reload_refused(outcome, &err);
    else if (changed)
        reload_ok(outcome);
    else
        reload_same(outcome);
    t->version += changed;
}

void tls_files_poll(struct tls_files *t, int64_t now_ms) {
    if (now_ms < t->looked_ms + LOOK_MS)
        return;
    t->looked_ms = now_ms;
    if (t->ca_reload.failing || has_changed(&t->ca))
        reload(t, &t->ca_reload, load_ca);
    if (t->certificate_reload.failing || has_changed(&t->certificate) || has_changed(&t->key))
        reload(t, &t->certificate_reload, load_pair);
}
