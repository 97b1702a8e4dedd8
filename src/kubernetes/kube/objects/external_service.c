#include "kube/objects/external_service.h"

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "model/labels.h"
#include "model/names.h"
#include "model/object.h"

#include <errno.h>

#define TYPE "ExternalName"
#define PORT_NAME "server"
#define MANAGER "evenkeel"

enum { LAST_PORT = 65535 };

/* ---- reading ---- */

/* Returns a port's number; 0 for a port by its name. */
static int64_t read_number(struct json_reader *r) {
    if (json_peek(r) == JSON_NUMBER)
        return json_integer(r, 0, LAST_PORT);
    (void)json_skip(r); /* errors stay in r, here and below */
    return 0;
}

static void read_port(struct json_reader *r, struct external_service_seen *s) {
    struct str key;
    s->port_name = STR("");
    s->port = s->target_port = 0;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR("name")))
            s->port_name = json_string(r);
        else if (str_eq(key, STR("port")))
            s->port = read_number(r);
        else if (str_eq(key, STR("targetPort")))
            s->target_port = read_number(r);
}

static void read_ports(struct json_reader *r, struct external_service_seen *s) {
    if (!json_array(r))
        return;
    while (json_element(r)) {
        read_port(r, s);
        s->ports++;
    }
}

static void read_spec(struct json_reader *r, struct external_service_seen *s) {
    struct str key, type = STR("");
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR("type")))
            type = json_string(r);
        else if (str_eq(key, STR("externalName")))
            s->host = json_string(r);
        else if (str_eq(key, STR("ports")))
            read_ports(r, s);
    if (!str_eq(type, STR(TYPE)))
        s->host = STR("");
}

int external_service_read(struct str object, struct arena *arena, struct external_service_seen *ret,
                          struct err *err) {
    struct object_meta meta = {.terminating = false};
    struct json_reader r;
    struct str key, value;
    *ret = (struct external_service_seen){.ours = false};
    json_reader_init(&r, object, arena, SERVICE_KIND);
    if (json_object(&r)) {
        while (json_member(&r, &key))
            if (str_eq(key, STR("metadata")))
                meta_decode(&r, &meta);
            else if (str_eq(key, STR("spec")))
                read_spec(&r, ret);
    }
    const int result = object_finish(&r, &meta, err);
    if (result != 0)
        return result;
    if (str_empty(meta.name))
        return err_set(err, -EINVAL, SERVICE_KIND ": metadata.name is missing");
    ret->name = meta.name;
    ret->uid = meta.uid;
    ret->version = meta.version;
    ret->terminating = meta.terminating;
    ret->ours =
        labels_lookup(&meta.labels, STR(MANAGED_BY_LABEL), &value) && str_eq(value, STR(MANAGER));
    return 0;
}

bool external_service_says(const struct external_service_seen *seen,
                           const struct external_service *wanted) {
    return seen->ports == 1 && str_eq(seen->host, wanted->host) &&
           str_eq(seen->port_name, STR(PORT_NAME)) && seen->port == wanted->port &&
           seen->target_port == wanted->target_port;
}

/* ---- writing ---- */

static void put_spec(struct json_writer *w, const struct external_service *service) {
    json_key(w, STR("spec"));
    json_begin_object(w);
    json_put_member(w, STR("type"), STR(TYPE));
    json_put_member(w, STR("externalName"), service->host);
    json_key(w, STR("ports"));
    json_begin_array(w);
    json_begin_object(w);
    json_put_member(w, STR("name"), STR(PORT_NAME));
    json_put_member(w, STR("protocol"), STR("TCP"));
    json_key(w, STR("port"));
    json_put_integer(w, service->port);
    json_key(w, STR("targetPort"));
    json_put_integer(w, service->target_port);
    json_end_object(w);
    json_end_array(w);
    json_end_object(w);
}

void external_service_put_new(struct strbuf *out, const struct external_service *service) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_member(&w, STR("apiVersion"), STR("v1"));
    json_put_member(&w, STR("kind"), STR(SERVICE_KIND));
    json_key(&w, STR("metadata"));
    json_begin_object(&w);
    json_put_member(&w, STR("namespace"), service->namespace);
    json_put_member(&w, STR("name"), service->name);
    json_key(&w, STR("labels"));
    json_begin_object(&w);
    json_put_member(&w, STR(MANAGED_BY_LABEL), STR(MANAGER));
    json_end_object(&w);
    json_end_object(&w);
    put_spec(&w, service);
    json_end_object(&w);
}

void external_service_put_patch(struct strbuf *out, const struct external_service *service,
                                struct str version) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_key(&w, STR("metadata"));
    json_begin_object(&w);
    json_put_member(&w, STR("resourceVersion"), version);
    json_end_object(&w);
    put_spec(&w, service);
    json_end_object(&w);
}
