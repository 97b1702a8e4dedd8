#include "certs/rotation.h"

#include "base/arena.h"
#include "certs/authority.h"
#include "certs/bundle.h"
#include "certs/inspect.h"

#include <errno.h>

enum { SECONDS_PER_DAY = 86400, ARENA_BYTES = 4 << 20 };

void rotation_done(struct rotation *r) {
    strbuf_done(&r->ca);
    key_done(&r->ca_key);
    strbuf_done(&r->certificate);
    key_done(&r->key);
}

/* ---- finding problems ---- */

/* Reads the first certificate of a text. Returns false if the text has no readable certificate. */
static bool read_first(struct str pem, struct arena *arena, struct certificate *ret) {
    struct certificate *all;
    size_t count;
    if (certificates_read(pem, arena, &all, &count, NULL) != 0)
        return false;
    *ret = all[0];
    return true;
}

static const char near_end[] = "the authority ends within a year";

/* Returns NULL if the authority may sign, or the reason against it. Sets *ret if the authority can
 * be loaded, also near its end. */
static const char *judge_authority(struct str bundle, struct str key, int64_t now_s,
                                   struct arena *arena, struct authority **ret) {
    struct certificate ca;
    if (str_empty(bundle) && str_empty(key))
        return "there is no authority yet";
    if (!read_first(bundle, arena, &ca) || authority_load(bundle, key, ret, NULL) != 0)
        return "the authority's certificate and key are missing or broken";
    if (ca.not_before_s > now_s)
        return "the authority is not valid yet";
    if (ca.not_after_s - now_s < (int64_t)ROTATION_AUTHORITY_LEFT_DAYS * SECONDS_PER_DAY)
        return near_end;
    return NULL;
}

static bool covers_all(const struct rotation_request *request) {
    for (size_t i = 0; i < request->host_count; i++) {
        bool covered = false;
        if (certificate_covers(request->now.certificate, request->hosts[i], &covered, NULL) != 0 ||
            !covered)
            return false;
    }
    return true;
}

/* Checks certificate and key without the authority. Returns NULL and sets *ret to the certificate,
 * or returns the problem. */
static const char *judge_pair(const struct rotation_texts *now, int64_t now_s, struct arena *arena,
                              struct certificate *ret) {
    bool fits = false;
    if (str_empty(now->certificate) && str_empty(now->key))
        return "there is no certificate yet";
    if (!read_first(now->certificate, arena, ret) ||
        certificate_has_key(now->certificate, now->key, &fits, NULL) != 0 || !fits)
        return "the certificate and its key are broken, or do not belong together";
    if (ret->not_before_s > now_s)
        return "the certificate is not valid yet";
    if (ret->not_after_s <= now_s)
        return "the certificate has expired";
    if (now_s - ret->not_before_s >= (ret->not_after_s - ret->not_before_s) / 3 * 2)
        return "two thirds of the certificate's time are over";
    return NULL;
}

static const char *judge_leaf(const struct rotation_request *request, struct arena *arena) {
    const struct rotation_texts *now = &request->now;
    struct certificate leaf;
    const char *why = judge_pair(now, request->now_s, arena, &leaf);
    if (why != NULL)
        return why;
    if (!covers_all(request))
        return "the certificate is not for all names that are asked for";
    const struct certificate_trust trust = {
        .chain_pem = now->certificate, .ca_pem = now->ca, .at_s = request->now_s};
    if (certificate_verify(&trust, NULL, NULL) != 0)
        return "the certificate does not lead to the authority";
    return NULL;
}

/* Returns false if a certificate in the bundle has ended. */
static bool bundle_is_tidy(struct str ca, const struct strbuf *tidied) {
    return bundle_same(ca, strbuf_str(tidied));
}

/* ---- making the new texts ---- */

static int make_authority(const struct rotation_request *request, struct authority **ret,
                          struct err *err) {
    authority_free(*ret);
    *ret = NULL;
    const struct authority_request wish = {
        .common_name = STR("evenkeel-ca"), .days = AUTHORITY_DAYS, .now_s = request->now_s};
    return authority_new(&wish, ret, err);
}

static int make_leaf(const struct rotation_request *request, const struct authority *a,
                     struct rotation *ret, struct err *err) {
    const struct leaf_request wish = {.common_name = STR("evenkeel"),
                                      .hosts = request->hosts,
                                      .host_count = request->host_count,
                                      .server = true,
                                      .days = ROTATION_LEAF_DAYS,
                                      .now_s = request->now_s};
    ret->leaf_is_new = true;
    return authority_issue(a, &wish, &ret->certificate, &ret->key, err);
}

static int keep(struct str pem, struct strbuf *to, struct err *err) {
    strbuf_append_str(to, pem);
    return strbuf_failed(to) ? err_set(err, -ENOMEM, "no memory for certificates") : 0;
}

/* Makes the bundle: the authority that signs, then the others that clients must still trust. */
static int join(const struct rotation_request *request, const struct authority *a,
                struct rotation *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf ours = {0};
    int r = authority_save(a, &ours, &ret->ca_key, err);
    const struct str pems[] = {strbuf_str(&ours), request->now.ca,
                               ret->authority_is_new ? request->trusted : STR("")};
    return r != 0 ? r : bundle_join(pems, 3, request->now_s, &ret->ca, err);
}

/* May the authority sign a last leaf? Only if the authority is replaced for its age alone. The last
 * leaf gives clients the same time to load the new authority, however old the present leaf is. */
static bool may_sign_once_more(const struct authority *a, const char *authority_why,
                               int64_t now_s) {
    return authority_why == near_end &&
           authority_not_after(a) - now_s >= (int64_t)ROTATION_LEAF_DAYS * SECONDS_PER_DAY;
}

/* Makes the last leaf of the old authority, if it may sign one, and then the new authority. */
static int follow_authority(const struct rotation_request *request, const char *why,
                            struct authority **authority, struct rotation *ret, struct err *err) {
    int r = 0;
    ret->authority_is_new = true;
    if (may_sign_once_more(*authority, why, request->now_s))
        r = make_leaf(request, *authority, ret, err);
    return r == 0 ? make_authority(request, authority, err) : r;
}

int rotation_plan(const struct rotation_request *request, struct rotation *ret, struct err *err) {
    CLEANUP(authority_freep) struct authority *a = NULL;
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    const char *authority_why =
        judge_authority(request->now.ca, request->now.ca_key, request->now_s, &arena, &a);
    const char *leaf_why = judge_leaf(request, &arena);
    int r = 0;
    if (authority_why != NULL)
        r = follow_authority(request, authority_why, &a, ret, err);
    if (r == 0)
        r = join(request, a, ret, err);
    if (r == 0 && leaf_why != NULL && !ret->leaf_is_new)
        r = make_leaf(request, a, ret, err);
    if (r == 0 && !ret->leaf_is_new)
        r = keep(request->now.certificate, &ret->certificate, err);
    if (r == 0 && !ret->leaf_is_new)
        r = keep(request->now.key, &ret->key, err);
    if (r != 0)
        return r;
    ret->why = authority_why != NULL                        ? authority_why
               : leaf_why != NULL                           ? leaf_why
               : !bundle_is_tidy(request->now.ca, &ret->ca) ? "an old authority has ended"
                                                            : NULL;
    if (ret->why == NULL)
        rotation_done(ret);
    return 0;
}

/* ---- clients ---- */

static const char *judge_client(const struct rotation_client_request *request,
                                struct arena *arena) {
    const struct rotation_texts *now = &request->now;
    struct certificate leaf;
    const char *why = judge_pair(now, request->now_s, arena, &leaf);
    if (why != NULL)
        return why;
    if (!str_eq(leaf.common_name, request->common_name))
        return "the certificate is for another name";
    const struct certificate_trust trust = {.chain_pem = now->certificate,
                                            .ca_pem = request->ca,
                                            .of_client = true,
                                            .at_s = request->now_s};
    if (certificate_verify(&trust, NULL, NULL) != 0)
        return "the certificate does not lead to the authority";
    return NULL;
}

static int make_client(const struct rotation_client_request *request, const struct authority *a,
                       struct rotation *ret, struct err *err) {
    const struct leaf_request wish = {.common_name = request->common_name,
                                      .client = true,
                                      .days = request->days,
                                      .now_s = request->now_s};
    ret->leaf_is_new = true;
    return authority_issue(a, &wish, &ret->certificate, &ret->key, err);
}

int rotation_plan_client(const struct rotation_client_request *request, struct rotation *ret,
                         struct err *err) {
    CLEANUP(authority_freep) struct authority *a = NULL;
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    if (judge_authority(request->ca, request->ca_key, request->now_s, &arena, &a) != NULL)
        return 0;
    const char *why = judge_client(request, &arena);
    bool same = bundle_same(request->now.ca, request->ca);
    if (why == NULL && same)
        return 0;
    ret->why = why != NULL ? why : "the authorities have changed";
    int r = keep(request->ca, &ret->ca, err);
    if (r == 0 && why != NULL)
        return make_client(request, a, ret, err);
    if (r == 0)
        r = keep(request->now.certificate, &ret->certificate, err);
    return r == 0 ? keep(request->now.key, &ret->key, err) : r;
}
