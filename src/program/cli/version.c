#include "base/version.h"
#include "base/json_writer.h"
#include "certs/inspect.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "estimator/wire.h"
#include "http/http.h"
#include "kube/client/client.h"
#include "yaml/yaml.h"

enum { SPEC_OUTPUT };

static const struct option_spec specs[] = {
    [SPEC_OUTPUT] = {"output", 'o', "FORMAT", "table (default) or json"},
};

const struct command version_command = {
    .name = "version",
    .usage = "[-o json]",
    .about = "Prints the version, the commit it was built from and the versions of the libraries\n"
             "that are loaded.",
    .example = "evenkeel version -o json | jq -r .version",
    .specs = specs,
    .spec_count = sizeof specs / sizeof specs[0],
};

/* The libraries that are loaded now; their versions may differ from the build's. */
static const struct library {
    const char *name;
    const char *(*version)(void);
} libraries[] = {
    {"libmicrohttpd", http_server_version}, {"GnuTLS", http_tls_version},
    {"OpenSSL", certs_library_version},     {"libcurl", kube_library_version},
    {"libyaml", yaml_library_version},      {"protobuf-c", wire_library_version},
};
enum { LIBRARIES = sizeof libraries / sizeof libraries[0] };

static void print_text(struct strbuf *out) {
    strbuf_appendf(out, "evenkeel      %s\ncommit        %s\n", EVENKEEL_VERSION, version_commit());
    for (size_t i = 0; i < LIBRARIES; i++)
        strbuf_appendf(out, "%-13s %s\n", libraries[i].name, libraries[i].version());
}

static void print_json(struct strbuf *out) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_member(&w, STR("version"), STR(EVENKEEL_VERSION));
    json_put_member(&w, STR("commit"), str_of(version_commit()));
    json_key(&w, STR("libraries"));
    json_begin_object(&w);
    for (size_t i = 0; i < LIBRARIES; i++)
        json_put_member(&w, str_of(libraries[i].name), str_of(libraries[i].version()));
    json_end_object(&w);
    json_end_object(&w);
    strbuf_append_char(out, '\n');
}

int cmd_version(int argc, char **argv) {
    struct options o;
    struct option_value v;
    bool json = false;
    options_init(&o, &version_command, argc, argv);
    while (options_next(&o, &v)) {
        if (v.spec == &specs[SPEC_OUTPUT])
            json = options_output_is_json(&o, v.text);
        else
            options_fail(&o, "unexpected argument '%s'", v.text);
    }
    if (o.stopped)
        return o.exit_status;
    CLEANUP(strbuf_done) struct strbuf out = {.max = 1 << 16};
    if (json)
        print_json(&out);
    else
        print_text(&out);
    return answer_put_out("version", &out);
}
