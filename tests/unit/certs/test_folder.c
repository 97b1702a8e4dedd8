#include "certs/folder.h"

#include "certs/inspect.h"
#include "unit/certs/issued.h"

#include <errno.h>

/* The folder to make is inside the test's own. */
static struct folder_request request_for(void **state) {
    static char dir[256];
    (void)snprintf(dir, sizeof dir, "%s/certs", (const char *)*state); /* short */
    return (struct folder_request){.dir = dir, .now_s = NOW};
}

static struct folder_report init(const struct folder_request *request) {
    struct folder_report report = {0};
    struct err err;
    check_ok(folder_init(request, &report, &err), &err);
    return report;
}

static void refuse(const struct folder_request *request, int code, const char *why) {
    struct folder_report report = {.ca_not_after_s = 42};
    struct err err = {0};
    assert_int_equal(folder_init(request, &report, &err), code);
    assert_contains(err.text, why);
    assert_int_equal(report.ca_not_after_s, 42);
}

static struct strbuf bytes_of(const char *dir, const char *name) {
    struct strbuf bytes = {0};
    struct err err;
    check_ok(file_read(in(dir, name), 1 << 16, &bytes, &err), &err);
    return bytes;
}

/* The first certificate of a file; the arena holds it. */
static struct certificate certificate_of(const char *dir, const char *name, struct arena *arena) {
    struct strbuf pem = bytes_of(dir, name);
    struct certificate *all;
    size_t count;
    struct err err;
    check_ok(certificates_read(strbuf_str(&pem), arena, &all, &count, &err), &err);
    strbuf_done(&pem);
    return all[0];
}

static void assert_same_file(const char *dir, const char *name, const struct strbuf *before,
                             bool same) {
    struct strbuf now = bytes_of(dir, name);
    assert_int_equal(str_eq(strbuf_str(&now), strbuf_str(before)), same);
    strbuf_done(&now);
}

static void test_new_folder(void **state) {
    struct folder_request request = request_for(state);
    struct folder_report report = init(&request);
    assert_true(report.ca_is_new);
    assert_int_equal(report.ca_not_after_s, NOW + 3650 * DAY);
    assert_int_equal(report.leaf_not_after_s, NOW + 365 * DAY);
    assert_int_equal(mode_of(request.dir), 0700);
    static const char *const names[] = {"ca", "tls", "client"};
    for (size_t i = 0; i < 3; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "%s.crt", names[i]); /* short */
        assert_int_equal(mode_of(in(request.dir, name)), 0644);
        (void)snprintf(name, sizeof name, "%s.key", names[i]);
        assert_int_equal(mode_of(in(request.dir, name)), 0600);
    }
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct certificate ca = certificate_of(request.dir, "ca.crt", &arena);
    struct certificate server = certificate_of(request.dir, "tls.crt", &arena);
    struct certificate client = certificate_of(request.dir, "client.crt", &arena);
    assert_true(ca.is_ca);
    assert_true(server.for_server && !server.for_client);
    assert_int_equal(server.name_count, 3);
    assert_str(server.names[0], "localhost");
    assert_str(server.names[1], "127.0.0.1");
    assert_str(server.names[2], "::1");
    assert_true(client.for_client && !client.for_server);
    assert_str(client.common_name, "system:kube-scheduler");
    assert_int_equal(client.name_count, 0);
    arena_done(&arena);
}

static void test_pairs_belong_together(void **state) {
    struct folder_request request = request_for(state);
    (void)init(&request);
    static const char *const names[][2] = {
        {"ca.crt", "ca.key"}, {"tls.crt", "tls.key"}, {"client.crt", "client.key"}};
    struct strbuf ca = bytes_of(request.dir, "ca.crt");
    for (size_t i = 0; i < 3; i++) {
        struct strbuf certificate = bytes_of(request.dir, names[i][0]);
        struct strbuf key = bytes_of(request.dir, names[i][1]);
        bool matches = false;
        struct err err;
        check_ok(certificate_has_key(strbuf_str(&certificate), strbuf_str(&key), &matches, &err),
                 &err);
        assert_true(matches);
        strbuf_done(&certificate);
        strbuf_done(&key);
    }
    struct strbuf server = bytes_of(request.dir, "tls.crt");
    const struct certificate_trust trust = {
        .chain_pem = strbuf_str(&server), .ca_pem = strbuf_str(&ca), .at_s = NOW};
    struct err err;
    check_ok(certificate_verify(&trust, NULL, &err), &err);
    strbuf_done(&server);
    strbuf_done(&ca);
}

static void test_renewal_keeps_authority_and_names(void **state) {
    const struct str hosts[] = {STR("a.example"), STR("fd00::1")};
    struct folder_request request = request_for(state);
    request.hosts = hosts;
    request.host_count = 2;
    request.client_name = STR("someone");
    (void)init(&request);
    struct strbuf ca = bytes_of(request.dir, "ca.crt"), ca_key = bytes_of(request.dir, "ca.key");
    struct strbuf server = bytes_of(request.dir, "tls.crt");
    struct folder_request again = request_for(state);
    again.now_s = NOW + 300 * DAY;
    again.days = 30;
    struct folder_report report = init(&again);
    assert_false(report.ca_is_new);
    assert_int_equal(report.leaf_not_after_s, NOW + 330 * DAY);
    assert_same_file(request.dir, "ca.crt", &ca, true);
    assert_same_file(request.dir, "ca.key", &ca_key, true);
    assert_same_file(request.dir, "tls.crt", &server, false);
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct certificate renewed = certificate_of(request.dir, "tls.crt", &arena);
    assert_int_equal(renewed.name_count, 2);
    assert_str(renewed.names[0], "a.example");
    assert_str(renewed.names[1], "fd00::1");
    assert_str(certificate_of(request.dir, "client.crt", &arena).common_name, "someone");
    /* names that are asked for replace the old ones */
    again.hosts = hosts;
    again.host_count = 1;
    again.client_name = STR("other");
    (void)init(&again);
    assert_int_equal(certificate_of(request.dir, "tls.crt", &arena).name_count, 1);
    assert_str(certificate_of(request.dir, "client.crt", &arena).common_name, "other");
    arena_done(&arena);
    strbuf_done(&ca);
    strbuf_done(&ca_key);
    strbuf_done(&server);
}

static void test_foreign_leaves_are_kept(void **state) {
    struct folder_request request = request_for(state);
    (void)init(&request);
    struct authority *other = new_authority("other", 10, NOW);
    struct issued foreign = issue_server(other, 5, NOW, "foreign", NULL, NULL);
    put_file(in(request.dir, "tls.crt"), strbuf_str(&foreign.certificate), 0644);
    struct strbuf client = bytes_of(request.dir, "client.crt");
    refuse(&request, -EEXIST, "will not overwrite tls.crt and tls.key");
    assert_same_file(request.dir, "tls.crt", &foreign.certificate, true);
    assert_same_file(request.dir, "client.crt", &client, true); /* all or nothing */
    request.force = true;
    assert_false(init(&request).ca_is_new);
    assert_same_file(request.dir, "tls.crt", &foreign.certificate, false);
    strbuf_done(&client);
    issued_done(&foreign);
    authority_free(other);
}

static void test_unreadable_leaves_are_kept(void **state) {
    struct folder_request request = request_for(state);
    (void)init(&request);
    put_file(in(request.dir, "client.crt"), STR("not a certificate\n"), 0644);
    refuse(&request, -EEXIST, "will not overwrite client.crt and client.key");
    assert_int_equal(unlink(in(request.dir, "client.crt")), 0);
    refuse(&request, -EEXIST, "will not overwrite client.crt and client.key"); /* a key alone */
    assert_int_equal(unlink(in(request.dir, "client.key")), 0);
    (void)init(&request);
}

static void test_half_an_authority(void **state) {
    struct folder_request request = request_for(state);
    (void)init(&request);
    struct strbuf key = bytes_of(request.dir, "ca.key");
    assert_int_equal(unlink(in(request.dir, "ca.key")), 0);
    request.force = true;
    refuse(&request, -EEXIST, "ca.key is missing or empty; put it back");
    put_file(in(request.dir, "ca.key"), strbuf_str(&key), 0600);
    assert_int_equal(unlink(in(request.dir, "ca.crt")), 0);
    refuse(&request, -EEXIST, "ca.crt is missing or empty; put it back");
    strbuf_done(&key);
}

static void test_wrong_authority(void **state) {
    struct folder_request request = request_for(state);
    (void)init(&request);
    struct strbuf key = bytes_of(request.dir, "tls.key");
    put_file(in(request.dir, "ca.key"), strbuf_str(&key), 0600);
    strbuf_done(&key);
    refuse(&request, -EINVAL, "the authority's key does not belong to its certificate");
}

static void test_expired_authority(void **state) {
    struct folder_request request = request_for(state);
    request.ca_days = 10;
    struct folder_report report = init(&request);
    assert_int_equal(report.ca_not_after_s, NOW + 10 * DAY);
    assert_int_equal(report.leaf_not_after_s, NOW + 10 * DAY); /* not after its authority */
    request.now_s = NOW + 10 * DAY;
    refuse(&request, -EINVAL, "has expired: move ca.crt and ca.key away");
    /* which is good advice: */
    assert_int_equal(unlink(in(request.dir, "ca.crt")), 0);
    assert_int_equal(unlink(in(request.dir, "ca.key")), 0);
    refuse(&request, -EEXIST, "will not overwrite tls.crt");
    request.force = true;
    assert_true(init(&request).ca_is_new);
}

static void test_nothing_is_written_for_a_wrong_host(void **state) {
    const struct str host = STR("a_b");
    struct folder_request request = request_for(state);
    request.hosts = &host;
    request.host_count = 1;
    refuse(&request, -EINVAL, "host 'a_b' is neither");
    assert_int_equal(access(in(request.dir, "ca.crt"), F_OK), -1);
}

static void test_folder_that_cannot_be(void **state) {
    struct folder_request request = request_for(state);
    put_file(request.dir, STR("a file"), 0644);
    refuse(&request, -ENOTDIR, "cannot make the folder");
    request.dir = in(*state, "missing/certs");
    refuse(&request, -ENOENT, "cannot make the folder");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_new_folder, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_pairs_belong_together, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_renewal_keeps_authority_and_names, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_foreign_leaves_are_kept, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_unreadable_leaves_are_kept, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_half_an_authority, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_wrong_authority, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_expired_authority, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_nothing_is_written_for_a_wrong_host, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_folder_that_cannot_be, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
