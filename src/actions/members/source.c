#include "members/member.h"

#include "base/dns_name.h"

#include <errno.h>

static struct str behind(struct str s, size_t n) {
    return (struct str){s.p + n, s.n - n};
}

/* Cuts off the part before the sign, or all without a sign. Returns true if the sign is there. */
static bool take_up_to(struct str *rest, char sign, struct str *ret) {
    const size_t at = str_find(*rest, sign);
    *ret = at == SIZE_MAX ? *rest : (struct str){rest->p, at};
    *rest = at == SIZE_MAX ? (struct str){0} : behind(*rest, at + 1);
    return at != SIZE_MAX;
}

static bool is_url(struct str s) {
    return str_has_prefix(s, STR("https://")) || str_has_prefix(s, STR("http://"));
}

bool member_source_parse(struct str text, struct member_source *ret) {
    struct str rest = text;
    *ret = (struct member_source){.server = {0}};
    if (!take_up_to(&rest, '=', &ret->name))
        return dns_subdomain_valid(ret->name);
    if (is_url(rest) && !take_up_to(&rest, ',', &ret->server))
        return dns_subdomain_valid(ret->name);
    const bool has_context = take_up_to(&rest, '#', &ret->kubeconfig);
    ret->context = rest;
    return ret->kubeconfig.n > 0 && (!has_context || ret->context.n > 0) &&
           dns_subdomain_valid(ret->name);
}

bool member_source_is_files(const struct member_source *source) {
    return str_empty(source->kubeconfig) && str_empty(source->server);
}

int member_source_access(const struct member_source *source, struct arena *arena,
                         struct kube_access *ret, struct err *err) {
    const char *path = arena_cstr(arena, source->kubeconfig);
    const char *context = source->context.n > 0 ? arena_cstr(arena, source->context) : NULL;
    const char *server = source->server.n > 0 ? arena_cstr(arena, source->server) : NULL;
    if (arena_failed(arena))
        return err_set(err, -ENOMEM, "no memory for member clusters");
    if (str_empty(source->kubeconfig))
        return kube_access_without_credentials(server, arena, ret, err);
    return kube_access_overriding(server, path, context, arena, ret, err);
}
