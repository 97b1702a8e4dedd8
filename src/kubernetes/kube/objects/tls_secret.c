#include "kube/objects/tls_secret.h"

#include "base/base64.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "model/names.h"

#define MARKED "self-signed"

static void read_annotations(struct json_reader *r, struct tls_secret *s) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR(CERTIFICATES_ANNOTATION)))
            s->ours = str_eq(json_string(r), STR(MARKED));
}

static void read_metadata(struct json_reader *r, struct tls_secret *s) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR("uid")))
            s->uid = json_string(r);
        else if (str_eq(key, STR("resourceVersion")))
            s->version = json_string(r);
        else if (str_eq(key, STR("annotations")))
            read_annotations(r, s);
}

static struct str *text_of(struct tls_secret *s, struct str key) {
    return str_eq(key, STR("ca.crt"))    ? &s->ca
           : str_eq(key, STR("ca.key"))  ? &s->ca_key
           : str_eq(key, STR("tls.crt")) ? &s->certificate
           : str_eq(key, STR("tls.key")) ? &s->key
                                         : NULL;
}

static void read_data(struct json_reader *r, struct arena *arena, struct tls_secret *s) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        struct str *text = text_of(s, key);
        if (text != NULL && !base64_decode(json_string(r), arena, text))
            json_fail(r, "malformed base64");
    }
}

int tls_secret_read(struct str object, struct arena *arena, struct tls_secret *ret,
                    struct err *err) {
    struct tls_secret s = {.ours = false};
    struct json_reader r;
    struct str key;
    json_reader_init(&r, object, arena, SECRET_KIND);
    if (json_object(&r)) {
        while (json_member(&r, &key))
            if (str_eq(key, STR("metadata")))
                read_metadata(&r, &s);
            else if (str_eq(key, STR("data")))
                read_data(&r, arena, &s);
    }
    int result = json_finish(&r, err);
    if (result != 0)
        return result;
    if (s.certificate.n == 0 && s.key.n == 0 && s.ca.n == 0 && s.ca_key.n == 0)
        s.ours = true;
    *ret = s;
    return 0;
}

static void put_bytes(struct json_writer *w, struct str key, struct str bytes) {
    json_key(w, key);
    json_put_raw(w, STR("\"")); /* base64 has nothing to escape */
    base64_append(w->out, bytes);
    strbuf_append_char(w->out, '"');
}

static void put_data(struct json_writer *w, const struct tls_secret *texts) {
    json_key(w, STR("data"));
    json_begin_object(w);
    put_bytes(w, STR("ca.crt"), texts->ca);
    if (!str_empty(texts->ca_key))
        put_bytes(w, STR("ca.key"), texts->ca_key);
    put_bytes(w, STR("tls.crt"), texts->certificate);
    put_bytes(w, STR("tls.key"), texts->key);
    json_end_object(w);
}

static void put_mark(struct json_writer *w) {
    json_key(w, STR("annotations"));
    json_begin_object(w);
    json_put_member(w, STR(CERTIFICATES_ANNOTATION), STR(MARKED));
    json_end_object(w);
}

void tls_secret_put_new(struct strbuf *out, struct str namespace, struct str name,
                        const struct tls_secret *texts) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_member(&w, STR("apiVersion"), STR("v1"));
    json_put_member(&w, STR("kind"), STR(SECRET_KIND));
    json_put_member(&w, STR("type"), STR(TLS_SECRET_TYPE));
    json_key(&w, STR("metadata"));
    json_begin_object(&w);
    json_put_member(&w, STR("namespace"), namespace);
    json_put_member(&w, STR("name"), name);
    put_mark(&w);
    json_end_object(&w);
    put_data(&w, texts);
    json_end_object(&w);
}

void tls_secret_put_patch(struct strbuf *out, const struct tls_secret *texts) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_key(&w, STR("metadata"));
    json_begin_object(&w);
    json_put_member(&w, STR("resourceVersion"), texts->version);
    put_mark(&w);
    json_end_object(&w);
    put_data(&w, texts);
    json_end_object(&w);
}
