#include "daemon/known_karmada.h"

#include "base/clock.h"
#include "config/purposes.h"
#include "fleet/karmada.h"

#include <errno.h>
#include <stdlib.h>

struct known_karmada {
    struct informer *clusters; /* owned; NULL: creation failed */
    bool is_watched;
};

int known_karmada_start(const struct configuration *c, const struct servers *servers,
                        struct source *source, struct known_karmada **ret, struct err *err) {
    const struct informer_watch watch = {
        .client = servers_client(servers, purpose_server(c, PURPOSE_MEMBERS)),
        .seed = clock_seed()};
    const bool is_watched = purpose_is_wanted(c, PURPOSE_MEMBERS) && watch.client != NULL;
    *ret = NULL;
    if (!is_watched && !(purpose_is_wanted(c, PURPOSE_FLEET) &&
                         servers_client(servers, purpose_server(c, PURPOSE_FLEET)) == NULL))
        return 0;
    struct known_karmada *k = calloc(1, sizeof *k);
    if (k == NULL)
        return err_set(err, -ENOMEM, "no memory for Karmada's clusters");
    *ret = k;
    k->is_watched = is_watched;
    const int r = informer_new(&karmada_store, NULL, &k->clusters, err);
    if (r != 0)
        return r;
    if (is_watched)
        return informer_watch(k->clusters, &watch, err);
    source_follow(source, informer_follower(k->clusters));
    return 0;
}

struct informer *known_karmada_watched(const struct known_karmada *k) {
    return k != NULL && k->is_watched ? k->clusters : NULL;
}

struct informer *known_karmada_of_files(const struct known_karmada *k) {
    return k != NULL && !k->is_watched ? k->clusters : NULL;
}

void known_karmada_stop(struct known_karmada *k) {
    if (k != NULL)
        informer_stop(k->clusters);
}

void known_karmada_free(struct known_karmada *k) {
    if (k == NULL)
        return;
    informer_free(k->clusters);
    free(k);
}
