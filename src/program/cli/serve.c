#include "cli/serve.h"

#include "cli/commands.h"
#include "cli/options.h"
#include "config/servers.h"
#include "daemon/server.h"
#include "extender/verbs.h"

#include <stdio.h>

enum { SPEC_CONFIG };

static const struct option_spec specs[] = {
    [SPEC_CONFIG] = {"config", 0, "FILE", "EvenkeelConfiguration to start from; flags override it"},
};

static void list_verbs(struct strbuf *out) {
    strbuf_appendf(out, "\nWhat kube-scheduler may call, and the field of its configuration:\n");
    for (size_t i = 0; i < EXTENDER_VERBS; i++)
        strbuf_appendf(out, "  POST %-24s %s\n      %s\n", extender_verbs[i].path,
                       extender_verbs[i].field, extender_verbs[i].about);
}

const struct command serve_command = {
    .name = "serve",
    .usage = "(--kubeconfig FILE | --in-cluster | --state PATH) [options]",
    .about = "The daemon. It does what is turned on, one thing or several in one process:\n"
             "webhook (--webhook-listen): API servers ask about every new pod, and policies\n"
             "    say what is changed. On a hub of Open Cluster Management they ask about\n"
             "    Placements.\n"
             "extender (--extender-listen): kube-scheduler asks where pods may go.\n"
             "fleet (--fleet-clusters): programs ask the extender's listener where Placements\n"
             "    and bindings would go: POST /clusters/v1/select and others.\n"
             "Placements (--ocm): those of Open Cluster Management are decided, at the hub.\n"
             "estimator (--estimator-listen): karmada-scheduler asks over gRPC how many\n"
             "    replicas of a binding fit each member cluster.\n"
             "\n"
             "The cluster's state comes from an API server, which is watched, or from files\n"
             "of what kubectl prints, which are read again when they change and on SIGHUP.\n"
             "The ops listener (--ops-listen) has GET /livez /readyz /metrics /version, and\n"
             "/explain: the reasons of its decisions, which evenkeel explain asks for.\n"
             "SIGTERM stops gently, a second one at once. Exit codes: 0 stopped, 1 could not\n"
             "start, 2 wrong usage.",
    .list = list_verbs,
    .example = "evenkeel certs init --dir certs\n"
               "evenkeel serve --kubeconfig ~/.kube/config \\\n"
               "    --extender-cert-file certs/tls.crt --extender-key-file certs/tls.key\n"
               "\n"
               "kubectl get nodes,pods,namespaces,pv,pvc,storageclasses -A -o json > state.json\n"
               "evenkeel serve --state state.json \\\n"
               "    --extender-cert-file certs/tls.crt --extender-key-file certs/tls.key",
    .specs = specs,
    .spec_count = sizeof specs / sizeof specs[0],
    .configuration_flags = true,
    .first_flags = "kubeconfig in-cluster state policy webhook-listen extender-listen "
                   "extender-cert-file extender-key-file estimator-listen ocm",
    .every_flag = true,
};

static int fail(const struct command *command, const struct err *err) {
    fprintf(stderr, "evenkeel %s: %s\n", command->name, err->text);
    return 1;
}

int serve_configured(const struct command *command, const struct configuration *c,
                     void (*log_more)(const void *ctx), const void *ctx) {
    struct err err;
    if (configuration_check(c, &err) != 0)
        return fail(command, &err);
    log_setup(c->log.level, c->log.format, 2);
    if (log_more != NULL)
        log_more(ctx);
    return server_run(c, &err) == 0 ? 0 : fail(command, &err);
}

static int serve(struct options *o, const char *path, struct configuration *c) {
    struct err err;
    if (options_configure(o, path, c, &err) != 0)
        return o->stopped ? o->exit_status : fail(o->command, &err);
    if (c->state.path_count == 0 && !server_is_set(&c->kubernetes) && !server_is_set(&c->hub) &&
        !server_is_set(&c->karmada_server) && c->estimator.member_count == 0) {
        options_fail(o,
                     "no cluster to serve; give --kubeconfig FILE, --in-cluster or --state FILE");
        return o->exit_status;
    }
    return serve_configured(o->command, c, NULL, NULL);
}

int cmd_serve(int argc, char **argv) {
    struct options o;
    struct option_value v;
    const char *path = NULL;
    options_init(&o, &serve_command, argc, argv);
    while (options_next(&o, &v)) {
        if (v.spec == &specs[SPEC_CONFIG])
            path = v.text;
        else if (v.flag == NULL)
            options_fail(&o, "unexpected argument '%s'", v.text);
    }
    if (o.stopped)
        return o.exit_status;
    struct configuration c;
    configuration_init(&c);
    int status = serve(&o, path, &c);
    configuration_done(&c);
    return status;
}
