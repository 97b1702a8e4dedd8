/* What a process works for, row by row: what turns each purpose on and off, what it watches and at
 * which API server, whether it writes there, and which Lease it has. Expected: the documents of the
 * settings (docs/configuration.md), and the names of the contract. */
#include "config/purposes.h"

#include "unit/unit.h"

static struct configuration c;

static int setup(void **state) {
    (void)state;
    configuration_init(&c);
    c.extender.listen = c.webhook.listen = "0";
    c.leader_election.name = "shop";
    return 0;
}

static int teardown(void **state) {
    (void)state;
    c.leader_election.name = NULL;
    configuration_done(&c);
    return 0;
}

static const struct {
    enum purpose purpose;
    const char *name;
} names[PURPOSES] = {
    {PURPOSE_PODS, "pods"},
    {PURPOSE_RESERVATIONS, "reservations"},
    {PURPOSE_CONTROLLERS, "controllers"},
    {PURPOSE_CERTIFICATES, "certificates"},
    {PURPOSE_FLEET, "fleet"},
    {PURPOSE_OCM, "ocm"},
    {PURPOSE_MEMBERS, "members"},
    {PURPOSE_ESTIMATOR_SERVICES, "estimator services"},
    {PURPOSE_ESTIMATORS, "estimators"},
};

/* Of what is wanted: names, with spaces between. */
static void wants(const char *expected) {
    CLEANUP(strbuf_done) struct strbuf found = {0};
    for (size_t i = 0; i < PURPOSES; i++)
        if (purpose_is_wanted(&c, names[i].purpose))
            strbuf_appendf(&found, "%s%s", found.n > 0 ? " " : "", names[i].name);
    assert_str(strbuf_str(&found), expected);
}

static void names_in_messages(void **state) {
    (void)state;
    for (size_t i = 0; i < PURPOSES; i++)
        assert_string_equal(purpose_name(names[i].purpose), names[i].name);
}

static void what_turns_them_on(void **state) {
    (void)state;
    c.policies.watch = false;
    wants("");
    c.extender.listen = ":1";
    wants("pods");
    c.reservations.mode = RESERVATIONS_SINGLE_NODE;
    wants("pods reservations");
    c.extender.listen = "0"; /* nobody asks */
    wants("");
    c.webhook.listen = ":1";
    wants("pods");
    c.policies.watch = true;
    wants("pods controllers");
    c.policies.watch = false;
    c.data.label_leaving_nodes = true;
    wants("pods controllers");
    c.webhook.pods = false; /* a hub's */
    wants("");
    c.policies.watch = true;
    wants("");
    c.policies.watch = false;
    c.webhook.pods = true;
    c.webhook.listen = "0"; /* no pod is admitted here */
    wants("");
    c.extender.listen = ":1";
    wants("pods reservations");
    c.extender.listen = "0";
    c.fleet.clusters = true;
    wants("fleet");
    c.fleet.clusters = false;
    c.ocm.enabled = true; /* a fleet comes with it, and no listener is needed */
    wants("fleet ocm");
    c.ocm.enabled = false;
    c.estimator.from_karmada = true; /* for nobody */
    wants("");
    c.estimator.listen = ":1";
    wants("members");
    c.estimator.services = true;
    wants("members estimator services");
    c.estimator.from_karmada = false;
    wants("");
    c.estimator.listen = "0";
    c.reservations.mode = RESERVATIONS_OFF;
    c.karmada_estimators.accurate = c.fleet.clusters = true;
    c.state.path_count = 1;
    c.extender.listen = ":1";
    wants("pods fleet"); /* estimators are found by DNS */
    c.karmada_server.kubeconfig = "k";
    wants("pods fleet estimators");
    assert_true(server_is_used(&c, SERVER_KARMADA));
    assert_false(server_is_written(&c, SERVER_KARMADA));
    c.karmada_estimators.accurate = false;
    wants("pods fleet");
    assert_false(server_is_used(&c, SERVER_KARMADA));
    c.state.path_count = 0;
}

static void certificates_of_listeners_that_are_on(void **state) {
    (void)state;
    c.policies.watch = false;
    c.extender.certificates.mode = CERTIFICATES_SELF_SIGNED;
    c.webhook.certificates.mode = CERTIFICATES_SECRET;
    wants("");
    c.extender.listen = ":1";
    wants("pods certificates");
    c.extender.certificates.mode = CERTIFICATES_FILES;
    wants("pods");
    c.extender.listen = "0";
    c.webhook.listen = ":1";
    wants("pods certificates");
    c.webhook.pods = false; /* has one all the same */
    wants("certificates");
    c.webhook.pods = true;
    c.webhook.certificates.mode = CERTIFICATES_FILES;
    wants("pods");
}

/* ---- servers ---- */

static void the_hub_is_this_cluster_if_it_is_not_set(void **state) {
    (void)state;
    c.kubernetes.kubeconfig = "k";
    for (enum purpose p = 0; p < PURPOSES; p++)
        assert_int_equal(purpose_server(&c, p), SERVER_CLUSTER);
    c.hub.kubeconfig = "h";
    for (enum purpose p = 0; p < PURPOSES; p++)
        assert_int_equal(purpose_server(&c, p),
                         p == PURPOSE_FLEET || p == PURPOSE_OCM ? SERVER_HUB : SERVER_CLUSTER);
    c.karmada_server.in_cluster = true;
    assert_int_equal(purpose_server(&c, PURPOSE_MEMBERS), SERVER_KARMADA);
    assert_int_equal(purpose_server(&c, PURPOSE_ESTIMATOR_SERVICES), SERVER_KARMADA);
    assert_int_equal(purpose_server(&c, PURPOSE_FLEET), SERVER_HUB);
}

static void uses(bool cluster, bool hub) {
    assert_int_equal(server_is_used(&c, SERVER_CLUSTER), cluster);
    assert_int_equal(server_is_used(&c, SERVER_HUB), hub);
}

static void writes(bool cluster, bool hub) {
    assert_int_equal(server_is_written(&c, SERVER_CLUSTER), cluster);
    assert_int_equal(server_is_written(&c, SERVER_HUB), hub);
}

static void which_servers_are_used_and_written(void **state) {
    (void)state;
    c.kubernetes.kubeconfig = "k";
    c.policies.watch = false;
    uses(false, false);
    writes(false, false);
    c.fleet.clusters = true;
    uses(true, false);
    c.hub.kubeconfig = "h";
    uses(false, true);
    writes(false, false); /* it is only looked at */
    c.ocm.enabled = true;
    uses(false, true);
    writes(false, true);
    c.extender.listen = ":1";
    uses(true, true);
    writes(false, true); /* bindings need no writer */
    c.extender.listen = "0";
    c.webhook.listen = ":1";
    writes(false, true);
    c.policies.watch = true; /* their status */
    writes(true, true);
    c.ocm.enabled = c.fleet.clusters = false;
    uses(true, false);
    writes(true, false);
    c.policies.watch = false;
    c.webhook.certificates.mode = CERTIFICATES_SECRET;
    writes(true, false);
}

/* ---- kinds ---- */

static const enum kind_row of_pods[] = {KIND_NODE, KIND_POD, KIND_NAMESPACE};
static const enum kind_row of_defaults[] = {KIND_SERVICE, KIND_REPLICATION_CONTROLLER,
                                            KIND_REPLICA_SET, KIND_STATEFUL_SET};
static const enum kind_row of_policies[] = {KIND_TOPOLOGY_POLICY, KIND_BOUND_CLAIM, KIND_VOLUME};
static const enum kind_row of_data[] = {KIND_DATASET, KIND_CLAIM, KIND_ALLUXIO_RUNTIME};
static const enum kind_row of_fleet[] = {KIND_MANAGED_CLUSTER};
static const enum kind_row of_ocm[] = {
    KIND_MANAGED_CLUSTER_SET, KIND_MANAGED_CLUSTER_SET_BINDING, KIND_PLACEMENT,
    KIND_PLACEMENT_DECISION,  KIND_ADD_ON_PLACEMENT_SCORE,      KIND_FLEET_NAMESPACE};
static const enum kind_row of_placement_policies[] = {KIND_PLACEMENT_POLICY};
static const enum kind_row of_karmada[] = {KIND_KARMADA_CLUSTER};

#define WATCHED(rows, at_cluster, at_hub)                                                          \
    do                                                                                             \
        for (size_t watched_i = 0; watched_i < sizeof(rows) / sizeof(rows)[0]; watched_i++) {      \
            const struct watched_kind *watched_row = &watched_kinds[(rows)[watched_i]];            \
            assert_int_equal(kind_is_watched(&c, watched_row, SERVER_CLUSTER), at_cluster);        \
            assert_int_equal(kind_is_watched(&c, watched_row, SERVER_HUB), at_hub);                \
        }                                                                                          \
    while (0)

static void kinds_of_karmada(void **state) {
    (void)state;
    c.kubernetes.kubeconfig = "k";
    c.estimator.listen = ":1";
    WATCHED(of_karmada, false, false);
    c.estimator.from_karmada = true;
    WATCHED(of_karmada, true, false);
    WATCHED(of_pods, false, false);
    c.karmada_server.kubeconfig = "f";
    WATCHED(of_karmada, false, false);
    assert_true(kind_is_watched(&c, &watched_kinds[KIND_KARMADA_CLUSTER], SERVER_KARMADA));
    assert_true(server_is_used(&c, SERVER_KARMADA));
    assert_false(server_is_written(&c, SERVER_KARMADA));
    assert_false(server_is_used(&c, SERVER_CLUSTER));
}

static void kinds_of_pods(void **state) {
    (void)state;
    c.kubernetes.kubeconfig = "k";
    c.hub.kubeconfig = "h";
    WATCHED(of_pods, false, false);
    c.webhook.listen = ":1";
    WATCHED(of_pods, true, false);
    WATCHED(of_defaults, true, false);
    WATCHED(of_policies, true, false);
    WATCHED(of_data, true, false);
    WATCHED(of_fleet, false, false);
    WATCHED(of_ocm, false, false);
    c.engine.system_defaults = false;
    WATCHED(of_defaults, false, false);
    c.engine.default_constraint_count = 1;
    WATCHED(of_defaults, true, false);
    c.policies.watch = false;
    WATCHED(of_policies, false, false);
    c.webhook.fluid.watch = false;
    WATCHED(of_data, false, false);
    WATCHED(of_pods, true, false);
}

static void kinds_of_a_hub(void **state) {
    (void)state;
    c.kubernetes.kubeconfig = "k";
    c.hub.kubeconfig = "h";
    c.fleet.clusters = true;
    WATCHED(of_fleet, false, true);
    WATCHED(of_ocm, false, false);
    WATCHED(of_placement_policies, false, false);
    c.ocm.enabled = true;
    WATCHED(of_fleet, false, true);
    WATCHED(of_ocm, false, true);
    WATCHED(of_placement_policies, false, true);
    WATCHED(of_pods, false, false);
    WATCHED(of_defaults, false, false);
    WATCHED(of_policies, false, false);
    WATCHED(of_data, false, false);
    c.fleet.clusters = false; /* included */
    WATCHED(of_fleet, false, true);
    c.policies.watch = false;
    WATCHED(of_placement_policies, false, false);
    WATCHED(of_ocm, false, true);
    c.hub.kubeconfig = NULL;
    WATCHED(of_fleet, true, false);
    WATCHED(of_ocm, true, false);
    WATCHED(of_pods, false, false);
}

/* ---- Leases ---- */

static void each_leader_has_a_lease_of_its_own(void **state) {
    (void)state;
    static const struct {
        enum purpose purpose;
        const char *name;
    } leases[] = {{PURPOSE_RESERVATIONS, "shop"},
                  {PURPOSE_CONTROLLERS, "shop-controllers"},
                  {PURPOSE_OCM, "shop-ocm"},
                  {PURPOSE_ESTIMATOR_SERVICES, "shop-karmada"}};
    for (size_t i = 0; i < sizeof leases / sizeof leases[0]; i++) {
        char name[LEASE_NAME_SIZE];
        lease_name(&c, leases[i].purpose, name);
        assert_string_equal(name, leases[i].name);
    }
}

/* Of what is elected for, likewise. */
static void elects(const char *expected) {
    CLEANUP(strbuf_done) struct strbuf found = {0};
    for (size_t i = 0; i < PURPOSES; i++)
        if (lease_is_wanted(&c, names[i].purpose))
            strbuf_appendf(&found, "%s%s", found.n > 0 ? " " : "", names[i].name);
    assert_str(strbuf_str(&found), expected);
}

/* Only what concerns callers, the memory of reservations, makes a replica not ready: it is a
 * purpose of its own. */
static void there_must_be_something_to_lead(void **state) {
    (void)state;
    c.kubernetes.kubeconfig = "k";
    c.leader_election.enabled = true;
    c.extender.listen = ":1";
    elects("");
    c.reservations.mode = RESERVATIONS_SINGLE_NODE;
    elects("reservations");
    c.webhook.listen = ":2";
    elects("reservations controllers");
    c.ocm.enabled = true;
    elects("reservations controllers ocm");
    assert_true(server_elects(&c, SERVER_CLUSTER));
    assert_false(server_elects(&c, SERVER_HUB));
    c.hub.kubeconfig = "h";
    assert_true(server_elects(&c, SERVER_CLUSTER));
    assert_true(server_elects(&c, SERVER_HUB));
    c.extender.listen = c.webhook.listen = "0";
    elects("ocm");
    assert_false(server_elects(&c, SERVER_CLUSTER));
    assert_true(server_elects(&c, SERVER_HUB));
    c.webhook.certificates.mode = CERTIFICATES_SELF_SIGNED; /* several write it, and one succeeds */
    c.webhook.listen = ":2";
    c.policies.watch = false;
    elects("ocm");
    c.ocm.enabled = false;
    c.estimator.listen = ":3";
    c.estimator.from_karmada = c.estimator.services = true;
    c.karmada_server.kubeconfig = "m";
    elects("estimator services");
    assert_true(server_elects(&c, SERVER_KARMADA));
    assert_true(server_is_written(&c, SERVER_KARMADA));
    c.estimator.services = false;
    assert_false(server_elects(&c, SERVER_KARMADA));
    assert_false(server_is_written(&c, SERVER_KARMADA));
    c.estimator.services = true;
    c.leader_election.enabled = false;
    elects("");
    assert_false(server_elects(&c, SERVER_HUB));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(names_in_messages),
        TEST(what_turns_them_on),
        TEST(certificates_of_listeners_that_are_on),
        TEST(the_hub_is_this_cluster_if_it_is_not_set),
        TEST(which_servers_are_used_and_written),
        TEST(kinds_of_pods),
        TEST(kinds_of_a_hub),
        TEST(kinds_of_karmada),
        TEST(each_leader_has_a_lease_of_its_own),
        TEST(there_must_be_something_to_lead),
    };
    return cmocka_run_group_tests_name("purposes", tests, NULL, NULL);
}
