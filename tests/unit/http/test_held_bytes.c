/* Whose connection goes when the bytes of a listener are used up: that of the network, the address
 * and the connection that hold most by their client's doing. */
#include "http/listener.h"
#include "unit/net/numbered.h"

enum { MANY = 8 };

static struct slot *held[MANY];

/* The connections of these addresses, each with a request under way. */
static void begin_with(const char *const from[], int count) {
    begin(MANY, MANY, 0);
    for (int i = 0; i < count; i++) {
        held[i] = come(i, from[i]);
        slots_busy(slots, held[i]);
    }
}

static void end_with(int count) {
    for (int i = 0; i < count; i++)
        leave(i);
    end();
}

static void hold(const size_t *bytes, int count) {
    for (int i = 0; i < count; i++)
        slots_hold(held[i], bytes[i], true);
}

/* Asks for `wanted` bytes on connection `who`. `whose`: the address that loses one; NULL: nobody.
 */
static void ask(int who, size_t wanted, const char *whose) {
    struct slots_entry entry = {.evicted = false};
    char text[ADDRESS_TEXT_SIZE];
    bool evicted = slots_evict_holder(slots, held[who], wanted, &entry);
    assert_int_equal(evicted, whose != NULL);
    assert_int_equal(entry.evicted, evicted);
    if (!evicted)
        return;
    assert_int_equal(entry.reason, SLOTS_BYTES);
    address_key_text(&entry.whose, text);
    assert_string_equal(text, whose);
}

/* A network that holds more loses, also to an address that holds more by itself. */
static void by_networks(void **state) {
    static const char *const from[] = {"10.0.1.1", "10.0.2.1", "10.0.2.2", "10.0.3.1"};
    (void)state;
    begin_with(from, 4);
    hold((const size_t[]){50, 40, 30, 0}, 4);
    ask(3, 10, "10.0.2.1");
    assert_int_equal(slots_leaving_bytes(slots), 40);
    /* what leaves is not counted for its network any more: now 30 of 10.0.2, 50 of 10.0.1 */
    ask(3, 10, "10.0.1.1");
    assert_int_equal(slots_leaving_bytes(slots), 90);
    leave(0);
    assert_int_equal(slots_leaving_bytes(slots), 40);
    end_with(4);
}

/* The asker would hold as much: then nobody goes. */
static void at_the_limits(void **state) {
    static const char *const networks[] = {"10.0.1.1", "10.0.2.1"};
    static const char *const addresses[] = {"10.0.1.1", "10.0.1.2"};
    static const char *const connections[] = {"10.0.1.1", "10.0.1.1"};
    const char *const *const all[] = {networks, addresses, connections};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (size_t wanted = 98; wanted <= 102; wanted++) {
            begin_with(all[i], 2);
            hold((const size_t[]){100, 60}, 2);
            ask(1, wanted, wanted < 100 ? "10.0.1.1" : NULL);
            end_with(2);
        }
    begin_with(networks, 2); /* it has more than it wants: what it has counts */
    hold((const size_t[]){100, 100}, 2);
    ask(1, 5, NULL);
    end_with(2);
}

/* The question is asked again and again: nothing adds up. */
static void asked_again(void **state) {
    static const char *const from[] = {"10.0.1.1", "10.0.2.1"};
    (void)state;
    begin_with(from, 2);
    hold((const size_t[]){100, 60}, 2);
    for (int i = 0; i < 5; i++)
        ask(1, 100, NULL);
    ask(1, 99, "10.0.1.1");
    end_with(2);
}

/* Only what a client decides about, and never the asker's own. */
static void who_may_go(void **state) {
    static const char *const from[] = {"10.0.1.1", "10.0.1.1", "10.0.2.1", "10.0.3.1"};
    (void)state;
    begin_with(from, 4);
    hold((const size_t[]){100, 0, 20, 0}, 4);
    ask(0, 200, NULL);               /* it is the largest itself, and its network is */
    slots_hold(held[0], 100, false); /* a handler runs */
    ask(3, 1, "10.0.2.1");
    ask(3, 1, NULL);
    slots_hold(held[0], 100, true);
    slots_idle(slots, held[0]); /* it has no request */
    ask(3, 1, NULL);
    slots_busy(slots, held[0]);
    slots_verified(slots, held[0]); /* it is not closed for others */
    ask(3, 1, NULL);
    end_with(4);
}

/* A verified client has room made for it by whoever holds anything; one that leaves has not. */
static void who_may_ask(void **state) {
    static const char *const from[] = {"10.0.1.1", "10.0.2.1", "10.0.3.1", "10.0.4.1"};
    (void)state;
    begin_with(from, 4);
    hold((const size_t[]){500, 1, 2, 0}, 4);
    slots_verified(slots, held[0]);
    ask(0, 1000, "10.0.3.1");
    ask(2, 1, NULL); /* it has been closed */
    ask(0, 1000, "10.0.2.1");
    ask(0, 1000, NULL); /* nobody holds anything */
    end_with(4);
}

/* Until closed connections have given theirs back, a quarter may be held beyond, and no more than
 * they hold. Nobody is closed for what is on its way. */
static void beyond_the_budget(void **state) {
    static const char *const from[] = {"10.0.1.1", "10.0.2.1", "10.0.3.1"};
    static const struct {
        size_t leaving, beyond;
    } rows[] = {{99, 99}, {100, 100}, {101, 100}, {400, 100}};
    static struct http_listener listener;
    static struct connection asker = {.listener = &listener};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin_with(from, 3);
        hold((const size_t[]){rows[i].leaving, 0, 0}, 3);
        ask(1, 1, from[0]);
        listener.door.slots = slots;
        listener.budget = (struct byte_budget){.max = 400, .used = 400};
        asker.slot = held[1];
        assert_true(exchange_make_room(&asker, rows[i].beyond, rows[i].beyond));
        assert_false(exchange_make_room(&asker, rows[i].beyond + 1, rows[i].beyond + 1));
        end_with(3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_networks), cmocka_unit_test(at_the_limits),
        cmocka_unit_test(asked_again), cmocka_unit_test(who_may_go),
        cmocka_unit_test(who_may_ask), cmocka_unit_test(beyond_the_budget),
    };
    return cmocka_run_group_tests_name("held bytes", tests, NULL, NULL);
}
