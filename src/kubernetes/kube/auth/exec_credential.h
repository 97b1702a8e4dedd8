/*
 * The JSON that a credential plugin receives and the JSON of its answer: ExecCredential.
 * upstream: client-go pkg/apis/clientauthentication, plugin/pkg/client/auth/exec. Thread-safe.
 */
#pragma once

#include "base/arena.h"
#include "kube/auth/access.h"

#include <stdint.h>

/* Appends the value of KUBERNETES_EXEC_INFO. `ca`: the authorities trusted at this moment, PEM;
 * included only if provideClusterInfo asks for the cluster. */
void exec_credential_info(const struct kube_access *access, struct str ca, struct strbuf *out);

struct exec_credential {
    struct str token;            /* valid in a header; empty: no token */
    struct str certificate, key; /* PEM, both or neither */
    int64_t expires_ms;          /* since 1970; INT64_MAX: not given */
};

/*
 * Reads an answer. Strings point into the text, which must be the caller's own buffer, or into the
 * arena: call exec_credential_wipe() before you free either; after a failure they are wiped
 * already. Returns 0, or -EINVAL with the reason: not JSON, another kind or apiVersion, empty, a
 * certificate without its key, and so on.
 */
int exec_credential_read(struct str text, const char *api_version, struct arena *arena,
                         struct exec_credential *ret, struct err *err) MUST_CHECK;

/* Overwrites the strings where they are. */
void exec_credential_wipe(const struct exec_credential *c);

/* Can a header have this token as its value? True for printable ASCII without blanks, not empty. */
bool token_valid(struct str token);
