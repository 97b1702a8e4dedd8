#include "daemon/listener_certificate.h"

#include "base/log.h"
#include "certs/authority.h"
#include "http/http.h"

void listener_certificate_init(struct listener_certificate *c, const char *name, const char *from,
                               bool asks_clients) {
    *c = (struct listener_certificate){.name = name, .from = from, .asks_clients = asks_clients};
    mutex_init(&c->lock);
}

static void be_ready(struct listener_certificate *c) REQUIRES(c->lock) {
    atomic_store(&c->ready, c->shows && (c->trusts || !c->asks_clients));
}

static void hand_over_pair(struct listener_certificate *c) REQUIRES(c->lock) {
    struct err err;
    if (c->listener == NULL || c->certificate.n == 0)
        return;
    if (http_listener_set_certificate(c->listener, strbuf_str(&c->certificate), strbuf_str(&c->key),
                                      c->from, &err) != 0) {
        LOG_E("certificate refused; the one before stays in use", LOG_ERRTEXT(&err));
        return;
    }
    LOG_I("certificate taken into use", LOG_CSTR("listener", c->name), LOG_CSTR("from", c->from));
    c->shows = true;
    be_ready(c);
}

static void hand_over_ca(struct listener_certificate *c) REQUIRES(c->lock) {
    struct err err;
    if (c->listener == NULL)
        return;
    if (http_listener_set_client_ca(c->listener, strbuf_str(&c->client_ca), c->from, &err) != 0) {
        LOG_E("CA of clients refused; the one before stays in use, and without one no client is "
              "accepted: put the CA of their certificates into ca.crt",
              LOG_CSTR("listener", c->name), LOG_ERRTEXT(&err));
        return;
    }
    LOG_I("CA of clients taken into use", LOG_CSTR("listener", c->name), LOG_CSTR("from", c->from));
    c->trusts = true;
    be_ready(c);
}

void listener_certificate_set_pair(struct listener_certificate *c, struct str certificate,
                                   struct str key) {
    mutex_lock(&c->lock);
    strbuf_clear(&c->certificate);
    strbuf_append_str(&c->certificate, certificate);
    key_done(&c->key);
    strbuf_append_str(&c->key, key);
    hand_over_pair(c);
    mutex_unlock(&c->lock);
}

void listener_certificate_set_client_ca(struct listener_certificate *c, struct str bundle) {
    mutex_lock(&c->lock);
    c->told = true;
    if (!str_eq(strbuf_str(&c->client_ca), bundle) || !c->trusts) {
        strbuf_clear(&c->client_ca);
        strbuf_append_str(&c->client_ca, bundle);
        hand_over_ca(c);
    }
    mutex_unlock(&c->lock);
}

void listener_certificate_serve(struct listener_certificate *c, struct http_listener *listener) {
    mutex_lock(&c->lock);
    c->listener = listener;
    if (c->asks_clients && c->told)
        hand_over_ca(c);
    hand_over_pair(c);
    mutex_unlock(&c->lock);
}

void listener_certificate_done(struct listener_certificate *c) {
    strbuf_done(&c->certificate);
    key_done(&c->key);
    strbuf_done(&c->client_ca);
    mutex_done(&c->lock);
}
