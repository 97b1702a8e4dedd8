#include "daemon/known_karmada.h"

#include "base/clock.h"
#include "config/purposes.h"
#include "fleet/karmada.h"

#include <errno.h>
#include <stdlib.h>

struct known_karmada {
    struct informer_store watched_store;
    struct informer *watched, *of_files; /* owned; NULL: not wanted, or creation failed */
};

static int watch(struct known_karmada *k, const struct informer_watch *watch, struct err *err) {
    k->watched_store = karmada_store;
    if (k->of_files != NULL)
        k->watched_store.metric = NULL; /* one of two informers counts */
    const int r = informer_new(&k->watched_store, NULL, &k->watched, err);
    return r != 0 ? r : informer_watch(k->watched, watch, err);
}

static int follow_files(struct known_karmada *k, struct source *source, struct err *err) {
    const int r = informer_new(&karmada_store, NULL, &k->of_files, err);
    if (r == 0)
        source_follow(source, informer_follower(k->of_files));
    return r;
}

int known_karmada_start(const struct configuration *c, const struct servers *servers,
                        struct source *source, struct known_karmada **ret, struct err *err) {
    const struct informer_watch members = {
        .client = servers_client(servers, purpose_server(c, PURPOSE_MEMBERS)),
        .seed = clock_seed()};
    const bool watches = purpose_is_wanted(c, PURPOSE_MEMBERS) && members.client != NULL;
    const bool reads = purpose_is_wanted(c, PURPOSE_FLEET) &&
                       servers_client(servers, purpose_server(c, PURPOSE_FLEET)) == NULL;
    *ret = NULL;
    if (!watches && !reads)
        return 0;
    struct known_karmada *k = calloc(1, sizeof *k);
    if (k == NULL)
        return err_set(err, -ENOMEM, "no memory for Karmada's clusters");
    *ret = k;
    const int r = reads ? follow_files(k, source, err) : 0;
    return r == 0 && watches ? watch(k, &members, err) : r;
}

struct informer *known_karmada_watched(const struct known_karmada *k) {
    return k != NULL ? k->watched : NULL;
}

struct informer *known_karmada_of_files(const struct known_karmada *k) {
    return k != NULL ? k->of_files : NULL;
}

void known_karmada_stop(struct known_karmada *k) {
    if (k == NULL)
        return;
    informer_stop(k->watched);
    informer_stop(k->of_files);
}

void known_karmada_free(struct known_karmada *k) {
    if (k == NULL)
        return;
    informer_free(k->watched);
    informer_free(k->of_files);
    free(k);
}
