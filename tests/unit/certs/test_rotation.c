/* What is to be in the Secret, year for year. */
#include "certs/rotation.h"

#include "certs/bundle.h"
#include "certs/inspect.h"

#include "unit/certs/issued.h"

#include <errno.h>

#define YEAR (365 * DAY)

static const struct str hosts[] = {{"evenkeel.evenkeel.svc", 21}, {"10.0.0.7", 8}};

/* What the Secret holds, and what clients trusted last. */
struct held {
    struct rotation r;
    struct strbuf trusted;
};

static struct rotation_request request_of(const struct held *h, int64_t now_s) {
    return (struct rotation_request){.now = {strbuf_str(&h->r.ca), strbuf_str(&h->r.ca_key),
                                             strbuf_str(&h->r.certificate), strbuf_str(&h->r.key)},
                                     .trusted = strbuf_str(&h->trusted),
                                     .hosts = hosts,
                                     .host_count = 2,
                                     .now_s = now_s};
}

/* Decides, and takes what was decided. Returns why, "" for nothing. */
static const char *pass_request(struct held *h, const struct rotation_request *request) {
    struct rotation made = {.why = NULL};
    struct err err;
    check_ok(rotation_plan(request, &made, &err), &err);
    if (made.why == NULL) {
        assert_int_equal(made.ca.n + made.ca_key.n + made.certificate.n + made.key.n, 0);
        h->r.authority_is_new = h->r.leaf_is_new = false;
        return "";
    }
    rotation_done(&h->r);
    h->r = made;
    return made.why;
}

static const char *pass(struct held *h, int64_t now_s) {
    const struct rotation_request request = request_of(h, now_s);
    return pass_request(h, &request);
}

static void held_done(struct held *h) {
    rotation_done(&h->r);
    strbuf_done(&h->trusted);
}

static bool verifies(struct str leaf, struct str ca, int64_t now_s) {
    const struct certificate_trust trust = {.chain_pem = leaf, .ca_pem = ca, .at_s = now_s};
    return certificate_verify(&trust, NULL, NULL) == 0;
}

static void expect_good(const struct held *h, int64_t now_s) {
    struct arena arena;
    struct certificate *chain;
    size_t count;
    struct err err;
    bool fits = false, covered = false;
    arena_init(&arena, 1 << 20);
    assert_true(verifies(strbuf_str(&h->r.certificate), strbuf_str(&h->r.ca), now_s));
    check_ok(certificate_has_key(strbuf_str(&h->r.certificate), strbuf_str(&h->r.key), &fits, &err),
             &err);
    assert_true(fits);
    for (int i = 0; i < 2; i++) {
        check_ok(certificate_covers(strbuf_str(&h->r.certificate), hosts[i], &covered, &err), &err);
        assert_true(covered);
    }
    check_ok(certificates_read(strbuf_str(&h->r.certificate), &arena, &chain, &count, &err), &err);
    assert_true(chain[0].for_server);
    assert_true(chain[0].not_after_s > now_s + 29 * DAY);
    arena_done(&arena);
}

static void test_the_first(void **state) {
    (void)state;
    struct held h = {0};
    assert_string_equal(pass(&h, NOW), "there is no authority yet");
    assert_true(h.r.authority_is_new && h.r.leaf_is_new);
    expect_good(&h, NOW);
    assert_string_equal(pass(&h, NOW), "");
    assert_string_equal(pass(&h, NOW + 59 * DAY), "");
    held_done(&h);
}

static void test_a_leaf_is_renewed_in_time(void **state) {
    (void)state;
    struct held h = {0};
    (void)pass(&h, NOW);
    struct strbuf ca = {0};
    strbuf_append_str(&ca, strbuf_str(&h.r.ca));
    assert_string_equal(pass(&h, NOW + 60 * DAY), "two thirds of the certificate's time are over");
    assert_true(h.r.leaf_is_new && !h.r.authority_is_new);
    assert_true(str_eq(strbuf_str(&h.r.ca), strbuf_str(&ca)));
    expect_good(&h, NOW + 60 * DAY);
    assert_string_equal(pass(&h, NOW + 200 * DAY), "the certificate has expired");
    expect_good(&h, NOW + 200 * DAY);
    strbuf_done(&ca);
    held_done(&h);
}

/* From when until when the certificate that comes first in a text is valid. */
static void times_of(struct str pem, int64_t *ret_from_s, int64_t *ret_end_s) {
    struct arena arena;
    struct certificate *chain;
    size_t count;
    struct err err;
    arena_init(&arena, 1 << 20);
    check_ok(certificates_read(pem, &arena, &chain, &count, &err), &err);
    *ret_from_s = chain[0].not_before_s;
    *ret_end_s = chain[0].not_after_s;
    arena_done(&arena);
}

/* What is wrong at that second, without what is made of it. */
static const char *wrong_at(const struct held *h, int64_t now_s) {
    const struct rotation_request request = request_of(h, now_s);
    struct rotation made = {.why = NULL};
    struct err err;
    check_ok(rotation_plan(&request, &made, &err), &err);
    const char *why = made.why;
    rotation_done(&made);
    return why != NULL ? why : "";
}

static void test_the_second_of_each_end(void **state) {
    (void)state;
    struct held h = {0};
    int64_t from_s, end_s;
    (void)pass(&h, NOW);
    times_of(strbuf_str(&h.r.certificate), &from_s, &end_s);
    int64_t due_s = from_s + (end_s - from_s) / 3 * 2;
    assert_string_equal(wrong_at(&h, due_s - 1), "");
    assert_string_equal(wrong_at(&h, due_s), "two thirds of the certificate's time are over");
    assert_string_equal(wrong_at(&h, end_s - 1), "two thirds of the certificate's time are over");
    assert_true(verifies(strbuf_str(&h.r.certificate), strbuf_str(&h.r.ca), end_s - 1));
    assert_string_equal(wrong_at(&h, end_s), "the certificate has expired");
    assert_false(verifies(strbuf_str(&h.r.certificate), strbuf_str(&h.r.ca), end_s));
    times_of(strbuf_str(&h.r.ca), &from_s, &end_s);
    assert_string_equal(wrong_at(&h, from_s), "");
    assert_string_equal(wrong_at(&h, from_s - 1), "the authority is not valid yet");
    assert_string_equal(wrong_at(&h, end_s - YEAR), "the certificate has expired");
    assert_string_equal(wrong_at(&h, end_s - YEAR + 1), "the authority ends within a year");
    held_done(&h);
}

/* What clients trusted belongs to an authority that is followed: a leaf alone adds nothing. */
static void test_a_leaf_leaves_the_bundle_alone(void **state) {
    (void)state;
    struct held h = {0};
    struct authority *other = new_authority("other", 3650, NOW);
    struct issued trusted = save(other);
    (void)pass(&h, NOW);
    strbuf_append_str(&h.trusted, strbuf_str(&trusted.certificate));
    CLEANUP(strbuf_done) struct strbuf before = {0};
    strbuf_append_str(&before, strbuf_str(&h.r.ca));
    assert_string_equal(pass(&h, NOW + 60 * DAY), "two thirds of the certificate's time are over");
    assert_true(bundle_same(strbuf_str(&h.r.ca), strbuf_str(&before)));
    issued_done(&trusted);
    authority_free(other);
    held_done(&h);
}

/* Twenty years, a look every ten days: who learned of the bundle ten days ago trusts every leaf. */
static void test_authorities_overlap(void **state) {
    (void)state;
    struct held h = {0};
    struct strbuf learned = {0};
    unsigned authorities = 0, both = 0;
    for (int look = 0; look < 730; look++) {
        int64_t now_s = NOW + look * 10 * DAY;
        (void)pass(&h, now_s);
        authorities += h.r.authority_is_new;
        both += h.r.ca.n > h.r.certificate.n * 3 / 2; /* about two certificates */
        if (look > 0)
            assert_true(verifies(strbuf_str(&h.r.certificate), strbuf_str(&learned), now_s));
        strbuf_clear(&learned);
        strbuf_append_str(&learned, strbuf_str(&h.r.ca));
    }
    assert_int_equal(authorities, 3); /* at the start, after nine years and after eighteen */
    assert_in_range(both, 65, 75);    /* looks at two: a year for each that followed */
    strbuf_done(&learned);
    held_done(&h);
}

/* kube-scheduler learns of an authority at its start only: whenever a new one comes, and though the
 * leaf is due as well, there are two months until something of the new one is shown. */
static void test_time_to_learn_of_an_authority(void **state) {
    (void)state;
    const int renewed_days[] = {3285, 3240, 3226, 3200};
    for (size_t i = 0; i < sizeof renewed_days / sizeof renewed_days[0]; i++) {
        struct held h = {0};
        struct strbuf learned = {0};
        (void)pass(&h, NOW);
        strbuf_append_str(&learned, strbuf_str(&h.r.ca));
        if (renewed_days[i] < 3285)
            (void)pass(&h, NOW + renewed_days[i] * DAY);
        int64_t from_s = NOW + 3285 * DAY + 1;
        assert_string_equal(pass(&h, from_s), "the authority ends within a year");
        assert_true(h.r.authority_is_new);
        for (int day = 0; day < 60; day++) {
            (void)pass(&h, from_s + day * DAY);
            assert_true(
                verifies(strbuf_str(&h.r.certificate), strbuf_str(&learned), from_s + day * DAY));
        }
        assert_string_equal(pass(&h, from_s + 60 * DAY),
                            "two thirds of the certificate's time are over");
        assert_false(
            verifies(strbuf_str(&h.r.certificate), strbuf_str(&learned), from_s + 60 * DAY));
        strbuf_done(&learned);
        held_done(&h);
    }
}

static void test_clocks_that_jump(void **state) {
    (void)state;
    struct held h = {0};
    (void)pass(&h, NOW);
    assert_string_equal(pass(&h, NOW + YEAR), "the certificate has expired");
    assert_false(h.r.authority_is_new);
    expect_good(&h, NOW + YEAR);
    assert_string_equal(pass(&h, NOW), "the certificate is not valid yet");
    assert_false(h.r.authority_is_new);
    expect_good(&h, NOW);
    assert_string_equal(pass(&h, NOW - YEAR), "the authority is not valid yet");
    expect_good(&h, NOW - YEAR);
    assert_string_equal(pass(&h, NOW + 20 * YEAR), "the authority ends within a year");
    expect_good(&h, NOW + 20 * YEAR);
    held_done(&h);
}

static void test_what_is_lost(void **state) {
    (void)state;
    struct held h = {0};
    (void)pass(&h, NOW);
    struct rotation_request request = request_of(&h, NOW);
    request.now.ca_key = STR(""); /* by hand, for a new authority */
    assert_string_equal(pass_request(&h, &request),
                        "the authority's certificate and key are missing or broken");
    assert_true(h.r.authority_is_new && !h.r.leaf_is_new);
    expect_good(&h, NOW); /* the old one is still trusted */
    request = request_of(&h, NOW);
    request.now.key = STR("");
    assert_string_equal(pass_request(&h, &request),
                        "the certificate and its key are broken, or do not belong together");
    assert_false(h.r.authority_is_new);
    request = request_of(&h, NOW);
    request.now.certificate = STR("-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n");
    assert_string_equal(pass_request(&h, &request),
                        "the certificate and its key are broken, or do not belong together");
    request = request_of(&h, NOW);
    request.now.certificate = STR(""); /* its key is there */
    assert_string_equal(pass_request(&h, &request),
                        "the certificate and its key are broken, or do not belong together");
    expect_good(&h, NOW);
    /* all of it: what clients trusted stays in the bundle */
    struct held anew = {0};
    strbuf_append_str(&anew.trusted, strbuf_str(&h.r.ca));
    assert_string_equal(pass(&anew, NOW), "there is no authority yet");
    expect_good(&anew, NOW);
    assert_true(verifies(strbuf_str(&h.r.certificate), strbuf_str(&anew.r.ca), NOW));
    held_done(&anew);
    held_done(&h);
}

static void test_other_hosts(void **state) {
    (void)state;
    static const struct str more[] = {{"evenkeel.evenkeel.svc", 21}, {"other.example", 13}};
    static const struct str none[] = {{"https://x", 9}};
    struct held h = {0};
    (void)pass(&h, NOW);
    struct rotation_request request = request_of(&h, NOW);
    request.hosts = more;
    assert_string_equal(pass_request(&h, &request),
                        "the certificate is not for all names that are asked for");
    assert_false(h.r.authority_is_new);
    request = request_of(&h, NOW);
    request.hosts = none;
    request.host_count = 1;
    struct rotation made = {.why = NULL};
    struct err err;
    assert_int_equal(rotation_plan(&request, &made, &err), -EINVAL);
    assert_contains(err.text, "https://x");
    rotation_done(&made);
    held_done(&h);
}

static void test_a_leaf_of_somebody_else(void **state) {
    (void)state;
    struct held h = {0};
    (void)pass(&h, NOW);
    struct authority *other = new_authority("other", 3650, NOW);
    struct issued leaf = issue_server(other, 90, NOW, "evenkeel.evenkeel.svc", "10.0.0.7", NULL);
    struct rotation_request request = request_of(&h, NOW);
    request.now.certificate = strbuf_str(&leaf.certificate);
    request.now.key = strbuf_str(&leaf.key);
    assert_string_equal(pass_request(&h, &request),
                        "the certificate does not lead to the authority");
    expect_good(&h, NOW);
    issued_done(&leaf);
    authority_free(other);
    held_done(&h);
}

static void test_an_authority_that_has_ended_is_dropped(void **state) {
    (void)state;
    struct held h = {0};
    (void)pass(&h, NOW);
    struct authority *old = new_authority("old", 30, NOW);
    struct issued ended = save(old);
    const struct str pems[] = {strbuf_str(&h.r.ca), strbuf_str(&ended.certificate)};
    struct strbuf both = {0};
    struct err err;
    check_ok(bundle_join(pems, 2, NOW, &both, &err), &err);
    struct rotation_request request = request_of(&h, NOW + 29 * DAY);
    request.now.ca = strbuf_str(&both);
    assert_string_equal(pass_request(&h, &request), "");
    request = request_of(&h, NOW + 30 * DAY);
    request.now.ca = strbuf_str(&both);
    assert_string_equal(pass_request(&h, &request), "an old authority has ended");
    assert_false(h.r.leaf_is_new || h.r.authority_is_new);
    assert_false(bundle_same(strbuf_str(&h.r.ca), strbuf_str(&both)));
    strbuf_done(&both);
    issued_done(&ended);
    authority_free(old);
    held_done(&h);
}

/* ---- clients ---- */

/* The server's authority, and what a client has. */
struct client {
    struct held server;
    struct rotation has;
};

static struct rotation_client_request client_request(const struct client *c, int64_t now_s) {
    return (struct rotation_client_request){.ca = strbuf_str(&c->server.r.ca),
                                            .ca_key = strbuf_str(&c->server.r.ca_key),
                                            .now = {.ca = strbuf_str(&c->has.ca),
                                                    .certificate = strbuf_str(&c->has.certificate),
                                                    .key = strbuf_str(&c->has.key)},
                                            .common_name = STR("system:kube-scheduler"),
                                            .days = 90,
                                            .now_s = now_s};
}

static const char *pass_client(struct client *c, const struct rotation_client_request *request) {
    struct rotation made = {.why = NULL};
    struct err err;
    check_ok(rotation_plan_client(request, &made, &err), &err);
    assert_int_equal(made.ca_key.n, 0); /* no client gets it */
    if (made.why == NULL) {
        assert_int_equal(made.ca.n + made.certificate.n + made.key.n, 0);
        return "";
    }
    rotation_done(&c->has);
    c->has = made;
    return made.why;
}

static const char *renew(struct client *c, int64_t now_s) {
    const struct rotation_client_request request = client_request(c, now_s);
    return pass_client(c, &request);
}

static bool proves(struct str leaf, struct str ca, int64_t now_s, bool of_client) {
    const struct certificate_trust trust = {
        .chain_pem = leaf, .ca_pem = ca, .of_client = of_client, .at_s = now_s};
    return certificate_verify(&trust, NULL, NULL) == 0;
}

static void expect_good_client(const struct client *c, int64_t now_s) {
    struct arena arena;
    struct certificate *chain;
    size_t count;
    struct err err;
    bool fits = false;
    struct str leaf = strbuf_str(&c->has.certificate), ca = strbuf_str(&c->server.r.ca);
    arena_init(&arena, 1 << 20);
    assert_true(proves(leaf, ca, now_s, true));
    assert_false(proves(leaf, ca, now_s, false)); /* it is no server's */
    check_ok(certificate_has_key(leaf, strbuf_str(&c->has.key), &fits, &err), &err);
    assert_true(fits);
    check_ok(certificates_read(leaf, &arena, &chain, &count, &err), &err);
    assert_str(chain[0].common_name, "system:kube-scheduler");
    assert_true(bundle_same(strbuf_str(&c->has.ca), ca));
    arena_done(&arena);
}

static void client_done(struct client *c) {
    held_done(&c->server);
    rotation_done(&c->has);
}

static void test_a_client(void **state) {
    (void)state;
    struct client c = {.has = {.why = NULL}};
    assert_string_equal(renew(&c, NOW), ""); /* who would sign it? */
    (void)pass(&c.server, NOW);
    assert_string_equal(renew(&c, NOW), "there is no certificate yet");
    expect_good_client(&c, NOW);
    assert_string_equal(renew(&c, NOW), "");
    assert_string_equal(renew(&c, NOW + 59 * DAY), "");
    assert_string_equal(renew(&c, NOW + 60 * DAY), "two thirds of the certificate's time are over");
    expect_good_client(&c, NOW + 60 * DAY);
    assert_string_equal(renew(&c, NOW + 151 * DAY), "the certificate has expired");
    assert_string_equal(renew(&c, NOW), "the certificate is not valid yet");
    expect_good_client(&c, NOW);
    client_done(&c);
}

/* A server's certificate must not prove that its owner is kube-scheduler, nor may another name. */
static void test_a_client_with_what_is_not_its_own(void **state) {
    (void)state;
    struct client c = {.has = {.why = NULL}};
    (void)pass(&c.server, NOW);
    assert_false(
        proves(strbuf_str(&c.server.r.certificate), strbuf_str(&c.server.r.ca), NOW, true));
    (void)renew(&c, NOW);
    struct rotation_client_request request = client_request(&c, NOW);
    request.common_name = STR("somebody");
    assert_string_equal(pass_client(&c, &request), "the certificate is for another name");
    assert_string_equal(renew(&c, NOW), "the certificate is for another name");
    request = client_request(&c, NOW);
    request.now.key = strbuf_str(&c.server.r.key);
    assert_string_equal(pass_client(&c, &request),
                        "the certificate and its key are broken, or do not belong together");
    request = client_request(&c, NOW);
    request.now.certificate = STR("no PEM");
    assert_string_equal(pass_client(&c, &request),
                        "the certificate and its key are broken, or do not belong together");
    expect_good_client(&c, NOW);
    struct held other = {0};
    (void)pass(&other, NOW);
    struct rotation stranger = {.why = NULL};
    const struct rotation_client_request foreign = {.ca = strbuf_str(&other.r.ca),
                                                    .ca_key = strbuf_str(&other.r.ca_key),
                                                    .common_name = STR("system:kube-scheduler"),
                                                    .days = 90,
                                                    .now_s = NOW};
    struct err err;
    check_ok(rotation_plan_client(&foreign, &stranger, &err), &err);
    request = client_request(&c, NOW);
    request.now.certificate = strbuf_str(&stranger.certificate);
    request.now.key = strbuf_str(&stranger.key);
    assert_string_equal(pass_client(&c, &request),
                        "the certificate does not lead to the authority");
    expect_good_client(&c, NOW);
    rotation_done(&stranger);
    held_done(&other);
    client_done(&c);
}

/* A new authority is told at once; the certificate of the one before stays good until its time. */
static void test_a_client_and_a_new_authority(void **state) {
    (void)state;
    struct client c = {.has = {.why = NULL}};
    struct strbuf before = {0};
    (void)pass(&c.server, NOW);
    int64_t late = NOW + 3286 * DAY;
    (void)renew(&c, late - 2 * DAY);
    strbuf_append_str(&before, strbuf_str(&c.has.certificate));
    assert_string_equal(pass(&c.server, late), "the authority ends within a year");
    assert_string_equal(renew(&c, late), "the authorities have changed");
    assert_true(str_eq(strbuf_str(&c.has.certificate), strbuf_str(&before)));
    expect_good_client(&c, late);
    assert_string_equal(renew(&c, late + 58 * DAY),
                        "two thirds of the certificate's time are over");
    expect_good_client(&c, late + 58 * DAY);
    struct rotation_client_request request = client_request(&c, late + 58 * DAY);
    request.ca_key = STR("");
    assert_string_equal(pass_client(&c, &request), "");    /* until the server has mended it */
    assert_string_equal(renew(&c, late + 4000 * DAY), ""); /* the server's has ended, too */
    strbuf_done(&before);
    client_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first),
        cmocka_unit_test(test_a_leaf_is_renewed_in_time),
        cmocka_unit_test(test_the_second_of_each_end),
        cmocka_unit_test(test_a_leaf_leaves_the_bundle_alone),
        cmocka_unit_test(test_authorities_overlap),
        cmocka_unit_test(test_time_to_learn_of_an_authority),
        cmocka_unit_test(test_clocks_that_jump),
        cmocka_unit_test(test_what_is_lost),
        cmocka_unit_test(test_other_hosts),
        cmocka_unit_test(test_a_leaf_of_somebody_else),
        cmocka_unit_test(test_an_authority_that_has_ended_is_dropped),
        cmocka_unit_test(test_a_client),
        cmocka_unit_test(test_a_client_with_what_is_not_its_own),
        cmocka_unit_test(test_a_client_and_a_new_authority),
    };
    return cmocka_run_group_tests_name("rotation", tests, NULL, NULL);
}
