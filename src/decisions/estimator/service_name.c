#include "estimator/service_name.h"

void estimator_service_name(struct str prefix, struct str cluster, struct strbuf *out) {
    strbuf_append_str(out, prefix);
    strbuf_append_char(out, '-');
    strbuf_append_str(out, cluster);
}

struct str estimator_service_cluster(struct str prefix, struct str name) {
    const size_t n = prefix.n;
    if (name.n <= n + 1 || !str_has_prefix(name, prefix) || name.p[n] != '-')
        return STR("");
    return (struct str){name.p + n + 1, name.n - n - 1};
}
