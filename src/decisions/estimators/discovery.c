#include "estimators/discovery.h"

#include "base/json_reader.h"
#include "estimator/service_name.h"
#include "net/lookup.h"

#include <errno.h>
#include <stdio.h>

struct service_port {
    int64_t port, target; /* target 0: the target is not a number */
    struct str target_text;
};
struct service {
    struct str type, external_name;
    struct service_port found; /* the Service's first port with the wanted number */
    bool has_port;
};

/* ---- the Service ---- */

static void decode_target(struct json_reader *r, struct service_port *ret) {
    if (json_peek(r) == JSON_STRING)
        ret->target_text = json_string(r);
    else if (!json_null(r))
        ret->target = json_integer(r, INT32_MIN, INT32_MAX);
}

static void decode_ports(struct json_reader *r, uint16_t port, struct service *ret) {
    struct str key;
    if (json_null(r) || !json_array(r))
        return;
    while (json_element(r)) {
        struct service_port p = {.port = 0};
        if (!json_object(r))
            return;
        while (json_member(r, &key))
            if (str_eq(key, STR("port")))
                p.port = json_integer(r, INT32_MIN, INT32_MAX);
            else if (str_eq(key, STR("targetPort")))
                decode_target(r, &p);
        if (p.port == port && !ret->has_port) {
            ret->has_port = true;
            ret->found = p;
        }
    }
}

static void decode_spec(struct json_reader *r, uint16_t port, struct service *ret) {
    struct str key;
    if (json_null(r) || !json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR("type")))
            ret->type = json_string(r);
        else if (str_eq(key, STR("externalName")))
            ret->external_name = json_string(r);
        else if (str_eq(key, STR("ports")))
            decode_ports(r, port, ret);
}

static int decode_service(struct str json, uint16_t port, struct arena *arena, struct service *ret,
                          struct err *err) {
    struct json_reader r;
    struct str key;
    json_reader_init(&r, json, arena, "service");
    if (json_object(&r)) {
        while (json_member(&r, &key))
            if (str_eq(key, STR("spec")))
                decode_spec(&r, port, ret);
    }
    return json_finish(&r, err);
}

/* ---- addresses ---- */

bool estimator_location_parse(struct str text, struct estimator_location *ret) {
    char host[LOOKUP_HOST_SIZE], port[LOOKUP_PORT_SIZE];
    const char *sign = text.n > 0 ? memchr(text.p, '=', text.n) : NULL;
    const size_t n = sign != NULL ? (size_t)(sign - text.p) : 0;
    if (n == 0 || text.n - n - 1 >= sizeof ret->address)
        return false;
    ret->cluster = (struct str){text.p, n};
    memcpy(ret->address, sign + 1, text.n - n - 1);
    ret->address[text.n - n - 1] = '\0';
    return lookup_split(ret->address, host, port);
}

static int add_address(struct estimator_addresses *a, struct str name, const char *rest,
                       int64_t port, struct err *err) {
    char *to = a->texts[a->count];
    const int n =
        snprintf(to, LIMIT_GRPC_ADDRESS, "%.*s%s:%lld", (int)name.n, name.p, rest, (long long)port);
    if (n < 0 || n >= LIMIT_GRPC_ADDRESS)
        return err_set(err, -EINVAL, "the name '%.*s' is too long", STR_ARG(name));
    a->count++;
    return 0;
}

/* Adds the Service of the cluster in which Karmada runs, by its full name and by its short one. */
static int add_default(const struct estimator_services *s, struct str cluster,
                       struct estimator_addresses *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    char rest[LIMIT_GRPC_ADDRESS + 32];
    estimator_service_name(s->prefix, cluster, &text);
    if (strbuf_failed(&text))
        return err_set(err, -ENOMEM, "no memory for a name");
    const struct str name = strbuf_str(&text);
    (void)snprintf(rest, sizeof rest, ".%.*s.svc.cluster.local", STR_ARG(s->namespace)); /* fits */
    int r = add_address(ret, name, rest, s->port, err);
    (void)snprintf(rest, sizeof rest, ".%.*s.svc", STR_ARG(s->namespace)); /* fits */
    return r == 0 ? add_address(ret, name, rest, s->port, err) : r;
}

static int add_external(const struct service *service, const struct estimator_services *s,
                        struct estimator_addresses *ret, struct err *err) {
    const struct str type = str_empty(service->type) ? STR("ClusterIP") : service->type;
    const struct service_port *p = &service->found;
    if (!str_eq(type, STR("ExternalName")))
        return err_set(err, -EINVAL, "unsupported service type \"%.*s\"", STR_ARG(type));
    if (!service->has_port)
        return err_set(err, -EINVAL, "the Service has no port %u", s->port);
    if (p->target_text.p != NULL)
        return err_set(err, -EINVAL,
                       "the Service's targetPort is '%.*s', but an ExternalName needs a number",
                       STR_ARG(p->target_text));
    if (p->target < 1 || p->target > UINT16_MAX)
        return err_set(err, -EINVAL, "the Service's targetPort %lld is no port",
                       (long long)p->target);
    if (str_empty(service->external_name))
        return err_set(err, -EINVAL, "the Service's externalName is missing");
    return add_address(ret, service->external_name, "", p->target, err);
}

int estimator_service_addresses(const struct estimator_services *s, struct str cluster,
                                struct str service, struct arena *arena,
                                struct estimator_addresses *ret, struct err *err) {
    struct service decoded = {.has_port = false};
    ret->count = 0;
    if (service.p == NULL)
        return add_default(s, cluster, ret, err);
    const int r = decode_service(service, s->port, arena, &decoded, err);
    return r == 0 ? add_external(&decoded, s, ret, err) : r;
}
