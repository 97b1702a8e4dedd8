/* How a member cluster is asked, by its Cluster and its Secret, as karmada's BuildClusterConfig. */
#include "members/karmada_access.h"

#include "base/json_reader.h"
#include "unit/unit.h"

#include <errno.h>

static struct arena arena;

static int setup(void **state) {
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct karmada_cluster decode(const char *json) {
    struct karmada_cluster c;
    struct json_reader r;
    struct err err = {0};
    json_reader_init(&r, str_of(json), &arena, "Cluster");
    karmada_cluster_decode(&r, &c);
    if (json_check(&r, &err) != 0)
        fail_msg("%s", err.text);
    return c;
}

#define CLUSTER(spec)                                                                              \
    "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\",\"metadata\":{"          \
    "\"name\":\"m1\"},\"spec\":{" spec "},\"status\":{\"apiEnablements\":[{}]}}"
#define ENDPOINT "\"apiEndpoint\":\"https://10.0.0.1:6443\""
#define SECRET_REF "\"secretRef\":{\"namespace\":\"karmada-cluster\",\"name\":\"m1\"}"
/* "tok" and "ca" */
#define SECRET "{\"kind\":\"Secret\",\"data\":{\"caBundle\":\"Y2E=\",\"token\":\"dG9r\"}}"

static void clusters(void **state) {
    const struct karmada_cluster c =
        decode(CLUSTER("\"id\":\"x\",\"syncMode\":\"Push\"," ENDPOINT "," SECRET_REF));
    (void)state;
    assert_str(c.meta.name, "m1");
    assert_str(c.access.endpoint, "https://10.0.0.1:6443");
    assert_str(c.access.secret_namespace, "karmada-cluster");
    assert_str(c.access.secret_name, "m1");
    assert_false(c.pull);
    assert_false(c.access.insecure_skip_tls_verify);
    assert_true(karmada_access_is_named(&c));
    const struct karmada_cluster none = decode(CLUSTER("\"syncMode\":\"Pull\"")),
                                 no_secret = decode(CLUSTER("\"syncMode\":\"Pull\"," ENDPOINT)),
                                 no_endpoint = decode(CLUSTER(SECRET_REF ",\"proxyHeader\":null")),
                                 no_namespace =
                                     decode(CLUSTER(ENDPOINT ",\"secretRef\":{\"name\":\"m1\"}")),
                                 no_name = decode(
                                     CLUSTER(ENDPOINT ",\"secretRef\":{\"namespace\":\"n\"}")),
                                 empty = decode("{}");
    assert_false(karmada_access_is_named(&no_namespace));
    assert_false(karmada_access_is_named(&no_name));
    assert_true(none.pull);
    assert_false(karmada_access_is_named(&none));
    assert_false(karmada_access_is_named(&no_secret));
    assert_false(karmada_access_is_named(&no_endpoint));
    assert_false(karmada_access_is_named(&empty));
}

static void differences(void **state) {
    static const char *const others[] = {
        CLUSTER("\"apiEndpoint\":\"https://10.0.0.2:6443\"," SECRET_REF),
        CLUSTER(ENDPOINT ",\"secretRef\":{\"namespace\":\"karmada-cluster\",\"name\":\"m2\"}"),
        CLUSTER(ENDPOINT ",\"secretRef\":{\"namespace\":\"other\",\"name\":\"m1\"}"),
        CLUSTER(ENDPOINT "," SECRET_REF ",\"insecureSkipTLSVerification\":true"),
        CLUSTER(ENDPOINT "," SECRET_REF ",\"syncMode\":\"Pull\""),
        CLUSTER(ENDPOINT "," SECRET_REF ",\"proxyURL\":\"http://p:1\""),
        CLUSTER(ENDPOINT "," SECRET_REF ",\"proxyHeader\":{\"a\":\"b\"}"),
    };
    const struct karmada_cluster c = decode(CLUSTER(ENDPOINT "," SECRET_REF)),
                                 again = decode(CLUSTER(SECRET_REF ",\"taints\":[]," ENDPOINT));
    struct karmada_cluster next = c;
    (void)state;
    assert_true(karmada_access_same(&c, &again));
    next.meta.uid = STR("of the next Cluster of this name");
    assert_false(karmada_access_same(&c, &next));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const struct karmada_cluster other = decode(others[i]);
        if (karmada_access_same(&c, &other))
            fail_msg("%s", others[i]);
    }
}

/* Which Secrets Clusters may name. */
static void checks(void **state) {
    const struct karmada_access_rules rules = {.secret_namespace = STR("karmada-cluster")};
    static const struct {
        const char *namespace, *endpoint, *text;
    } cases[] = {
        {"karmada-cluster", "https://h", NULL},
        {"karmada-cluster", "h:6443", NULL}, /* which is https */
        {"karmada-cluster", "http://h", "Evenkeel sends no token over plain HTTP"},
        {"kube-system", "http://h", "in namespace 'kube-system'"},
        {"karmada-clusters", "https://h",
         "names a Secret in namespace 'karmada-clusters': only those in "
         "karmada.clusterNamespace 'karmada-cluster' are read; set karmada.clusterNamespace if "
         "Karmada keeps its Secrets elsewhere"},
        {"karmada-cluste", "https://h", "in namespace 'karmada-cluste'"},
        {"kube-system", "https://h", "in namespace 'kube-system'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct karmada_cluster c = {.access = {.secret_namespace = str_of(cases[i].namespace),
                                                     .secret_name = STR("m1"),
                                                     .endpoint = str_of(cases[i].endpoint)}};
        struct err err = {0};
        assert_int_equal(karmada_access_check(&c, &rules, &err),
                         cases[i].text == NULL ? 0 : -EPERM);
        if (cases[i].text != NULL)
            assert_contains(err.text, cases[i].text);
    }
}

/* Where numbers are the same cluster's. */
static void places(void **state) {
#define PROXY ",\"proxyURL\":\"http://p:1\""
#define HEADER(value) ",\"proxyHeader\":{\"a\":\"" value "\"}"
    static const char *const different[] = {
        CLUSTER(ENDPOINT),
        CLUSTER("\"apiEndpoint\":\"https://10.0.0.2:6443\""),
        CLUSTER(ENDPOINT PROXY),
        CLUSTER(ENDPOINT PROXY HEADER("b")),
        CLUSTER(ENDPOINT PROXY HEADER("c")),
    };
    enum { DIFFERENT = sizeof different / sizeof different[0] };
    (void)state;
    for (int i = 0; i < DIFFERENT; i++)
        for (int j = 0; j < DIFFERENT; j++) {
            const struct karmada_cluster a = decode(different[i]), b = decode(different[j]);
            assert_int_equal(karmada_access_place(&a) == karmada_access_place(&b), i == j);
        }
    const struct karmada_cluster plain = decode(CLUSTER(ENDPOINT "," SECRET_REF)),
                                 header = decode(CLUSTER(ENDPOINT HEADER("b")));
    assert_true(karmada_access_place(&plain) == karmada_access_place(&header));
}

static struct kube_access access_of(const char *cluster, const char *secret, uint64_t *ret_hash) {
    struct karmada_cluster c = decode(cluster);
    struct kube_access access;
    struct err err = {0};
    c.access.secret_name = STR("m1");
    if (karmada_access_read(&c, str_of(secret), &arena, &access, ret_hash, &err) != 0)
        fail_msg("%s", err.text);
    return access;
}

/* Whatever is asked with, and whom, makes another access. */
static void hashes(void **state) {
    static const char *const different[] = {
        CLUSTER(ENDPOINT "," SECRET_REF),
        CLUSTER("\"apiEndpoint\":\"https://10.0.0.2:6443\"," SECRET_REF),
        CLUSTER(ENDPOINT "," SECRET_REF ",\"insecureSkipTLSVerification\":true"),
        CLUSTER(ENDPOINT "," SECRET_REF PROXY),
        CLUSTER(ENDPOINT "," SECRET_REF PROXY HEADER("b")),
        CLUSTER(ENDPOINT "," SECRET_REF PROXY HEADER("c")),
        CLUSTER(ENDPOINT "," SECRET_REF PROXY HEADER("b,c")),
    };
    enum { DIFFERENT = sizeof different / sizeof different[0] };
    (void)state;
    for (int i = 0; i < DIFFERENT; i++)
        for (int j = 0; j < DIFFERENT; j++) {
            uint64_t a, b;
            (void)access_of(different[i], SECRET, &a);
            (void)access_of(different[j], SECRET, &b);
            if ((a == b) != (i == j))
                fail_msg("%s, %s", different[i], different[j]);
        }
    uint64_t without, with;
    (void)access_of(different[2], "{\"data\":{\"token\":\"dG9r\"}}", &without);
    (void)access_of(different[0], "{\"data\":{\"caBundle\":\"\",\"token\":\"dG9r\"}}", &with);
    assert_true(without != with); /* with the same empty CA */
}

static void accesses(void **state) {
    uint64_t hash, other;
    const struct kube_access a = access_of(CLUSTER(ENDPOINT "," SECRET_REF), SECRET, &hash);
    (void)state;
    assert_string_equal(a.server, "https://10.0.0.1:6443");
    assert_string_equal(a.token, "tok");
    assert_str(a.ca.data, "ca");
    assert_false(a.insecure_skip_tls_verify);
    assert_null(a.proxy_url);
    (void)access_of(CLUSTER(SECRET_REF "," ENDPOINT), SECRET, &other);
    assert_true(hash == other);
    (void)access_of(CLUSTER(ENDPOINT "," SECRET_REF),
                    "{\"data\":{\"caBundle\":\"Y2E=\",\"token\":\"dG9s\"}}", &other);
    assert_true(hash != other);
    (void)access_of(CLUSTER(ENDPOINT "," SECRET_REF),
                    "{\"data\":{\"caBundle\":\"Y2I=\",\"token\":\"dG9r\"}}", &other);
    assert_true(hash != other);
    /* without a scheme as client-go takes it; without a CA where nothing is verified */
    const struct kube_access b = access_of(
        CLUSTER(
            "\"apiEndpoint\":\"m1.example:6443/\",\"insecureSkipTLSVerification\":true," SECRET_REF
            ",\"proxyURL\":\"http://proxy:3128\",\"proxyHeader\":{\"X-One\":\"a,b\",\"X-Two\":\"c "
            "d\"}"),
        "{\"data\":{\"token\":\"dG9r\"}}", &other);
    assert_string_equal(b.server, "https://m1.example:6443");
    assert_true(b.insecure_skip_tls_verify);
    assert_int_equal(b.ca.data.n, 0);
    assert_string_equal(b.proxy_url, "http://proxy:3128");
    assert_int_equal(b.proxy_header_count, 3);
    assert_string_equal(b.proxy_headers[0], "X-One: a");
    assert_string_equal(b.proxy_headers[1], "X-One: b");
    assert_string_equal(b.proxy_headers[2], "X-Two: c d");
    assert_true(hash != other);
    /* headers are the proxy's: without one there are none */
    const struct kube_access d = access_of(
        CLUSTER(ENDPOINT "," SECRET_REF ",\"proxyHeader\":{\"a\":\"b\"}"), SECRET, &other);
    assert_int_equal(d.proxy_header_count, 0);
}

static void refused(void **state) {
    static const struct {
        const char *cluster, *secret, *text;
    } cases[] = {
        {CLUSTER(ENDPOINT), "{\"data\":{\"caBundle\":\"Y2E=\"}}", "the Secret has no 'token'"},
        {CLUSTER(ENDPOINT), "{\"data\":{\"caBundle\":\"Y2E=\",\"token\":\"\"}}", "has no 'token'"},
        {CLUSTER(ENDPOINT), "{\"data\":{\"caBundle\":\"Y2E=\",\"token\":\"??\"}}", "no base64"},
        {CLUSTER(ENDPOINT), "{\"data\":{\"token\":\"dG9r\"}}", "the Secret has no 'caBundle'"},
        {CLUSTER(ENDPOINT), "{\"data\":{\"caBundle\":\"?\",\"token\":\"dG9r\"}}", "no base64"},
        /* "a\nb" */
        {CLUSTER(ENDPOINT), "{\"data\":{\"caBundle\":\"Y2E=\",\"token\":\"YQpi\"}}",
         "'token' has bytes"},
        {CLUSTER("\"apiEndpoint\":\"https://a b\""), SECRET, "spec.apiEndpoint"},
        {CLUSTER("\"apiEndpoint\":\"/\""), SECRET, "spec.apiEndpoint"},
        {CLUSTER(ENDPOINT ",\"proxyURL\":\"http://a\\nb\""), SECRET, "spec.proxyURL"},
        {CLUSTER(ENDPOINT ",\"proxyURL\":\"http://a\",\"proxyHeader\":{\"a\":\"b\\r\\nc: d\"}"),
         SECRET, "spec.proxyHeader: 'a'"},
        {CLUSTER(ENDPOINT ",\"proxyURL\":\"http://a\",\"proxyHeader\":{\"a:\":\"b\"}"), SECRET,
         "spec.proxyHeader"},
        {CLUSTER(ENDPOINT), "{\"data\":", "Secret"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct karmada_cluster c = decode(cases[i].cluster);
        struct kube_access access;
        struct err err = {0};
        uint64_t hash;
        c.access.secret_name = STR("m1");
        assert_int_equal(
            karmada_access_read(&c, str_of(cases[i].secret), &arena, &access, &hash, &err),
            -EINVAL);
        assert_contains(err.text, cases[i].text);
        assert_null(strstr(err.text, "dG9r"));
    }
}

#define OWNED(kind, api, name, uid)                                                                \
    "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"" api "\",\"kind\":\"" kind             \
    "\",\"name\":\"" name "\",\"uid\":\"" uid                                                      \
    "\",\"controller\":true}]},\"data\":{\"caBundle\":\"Y2E=\",\"token\":\"dG9r\"}}"
#define API "cluster.karmada.io/v1alpha1"

/* As RegisterClusterInControllerPlane makes Secrets, and as people do. */
static void owners(void **state) {
    static const struct {
        const char *secret_name, *secret, *text; /* of the refusal */
    } cases[] = {
        {"m1", SECRET, NULL},
        {"m1", OWNED("Cluster", API, "m1", "u1"), NULL},
        {"m2", OWNED("Cluster", API, "m1", "u1"), NULL},
        {"m1", OWNED("ExternalSecret", "external-secrets.io/v1", "x", "u2"), NULL},
        {"m1", OWNED("Cluster", "cluster.x-k8s.io/v1beta1", "x", "u2"), NULL},
        {"m2", SECRET,
         "the Secret 'm2', which has another name than the Cluster, and no Cluster as its "
         "controlling owner (controller: true)"},
        {"m2", OWNED("Secret", API, "m1", "u1"), "the Secret 'm2', which has another name"},
        {"m2", OWNED("Cluster", "cluster.x-k8s.io/v1beta1", "m1", "u1"), "another name"},
        /* a Cluster with the name of the Secret for impersonation of another one */
        {"m1", OWNED("Cluster", API, "m0", "u0"), "belongs to Cluster 'm0' with the uid 'u0'"},
        {"m1", OWNED("Cluster", API, "m0", "u1"), "belongs to Cluster 'm0'"},
        {"m1", OWNED("Cluster", API, "m1", "u0"), "belongs to Cluster 'm1' with the uid 'u0'"},
        {"m2", OWNED("Cluster", API, "m2", "u2"), "belongs to Cluster 'm2'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct karmada_cluster c = decode(CLUSTER(ENDPOINT "," SECRET_REF));
        struct kube_access access;
        struct err err = {0};
        uint64_t hash;
        c.meta.uid = STR("u1");
        c.access.secret_name = str_of(cases[i].secret_name);
        const int r =
            karmada_access_read(&c, str_of(cases[i].secret), &arena, &access, &hash, &err);
        if (r != (cases[i].text == NULL ? 0 : -EPERM))
            fail_msg("case %zu: %d %s", i, r, err.text);
        if (cases[i].text != NULL) {
            assert_contains(err.text, cases[i].text);
            assert_null(access.token);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(clusters, setup, teardown),
        cmocka_unit_test_setup_teardown(differences, setup, teardown),
        cmocka_unit_test_setup_teardown(checks, setup, teardown),
        cmocka_unit_test_setup_teardown(places, setup, teardown),
        cmocka_unit_test_setup_teardown(accesses, setup, teardown),
        cmocka_unit_test_setup_teardown(hashes, setup, teardown),
        cmocka_unit_test_setup_teardown(refused, setup, teardown),
        cmocka_unit_test_setup_teardown(owners, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
