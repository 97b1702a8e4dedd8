/*
 * What the tests of certificates in Secrets share: a fake API server with a client, a writer and
 * two watches, and a listener that waits for its certificate.
 */
#pragma once

#include "config/configuration.h"
#include "kube/write/writer.h"
#include "unit/http/fixture.h"
#include "unit/kube/api.h"

struct secrets_fixture {
    struct api api;
    struct api_call watches[2], call; /* the two, and what else comes */
    struct kube_access access;        /* namespace "ns" */
    struct kube_client *client;
    struct writer *writer;
    struct configuration configuration;
    struct served served; /* not started */
};

/* Fails the test if it cannot. The fixture must not move. */
void secrets_fixture_init(struct secrets_fixture *f);
/* The certificates must be freed already. */
void secrets_fixture_done(struct secrets_fixture *f);

/* Takes `count` watches into f->watches, in whichever order they come, by how their paths begin. */
void secrets_take_watches(struct secrets_fixture *f, const char *const paths[static 2], int count);

/* Takes the next request that is no Event into f->call; Events are answered. */
void secrets_expect(struct secrets_fixture *f, const char *method, const char *path);

/* Has a watch deliver an object that was sent to us, as of a version. */
void secrets_deliver(struct api_call *watch, const char *type, struct str object,
                     const char *version);
