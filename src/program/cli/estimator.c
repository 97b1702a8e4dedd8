#include "cli/commands.h"

#include "base/log.h"
#include "cli/estimator_flags.h"
#include "cli/serve.h"

#include <stdio.h>

static void log_flags(const void *ctx) {
    const struct estimator_flags *f = ctx;
    if (f->unused.n > 0)
        LOG_I("flags that mean nothing here", LOG_STR("flags", strbuf_str(&f->unused)));
    if (estimator_flags_lack_tls(f))
        LOG_W("plaintext: TLS needs a certificate and its key",
              LOG_CSTR("advice", "set --grpc-auth-cert-file and --grpc-auth-key-file, or none of "
                                 "the files"));
}

static int serve(const struct estimator_flags *f, struct configuration *c) {
    struct err err;
    if (estimator_flags_apply(f, c, &err) == 0)
        return serve_configured(&estimator_command, c, log_flags, f);
    (void)fprintf(stderr, "evenkeel estimator: %s\n", err.text); /* nowhere to report to */
    return 1;
}

int cmd_estimator(int argc, char **argv) {
    struct options o;
    struct estimator_flags flags;
    struct configuration c;
    options_init(&o, &estimator_command, argc, argv);
    estimator_flags_read(&o, &flags);
    int status = o.exit_status;
    if (!o.stopped) {
        configuration_init(&c);
        status = serve(&flags, &c);
        configuration_done(&c);
    }
    estimator_flags_done(&flags);
    return status;
}
