/*
 * Shared by the tests of certificates in Secrets: a fake API server with a client, a writer and two
 * watches, and a listener that waits for its certificate.
 */
#pragma once

#include "config/configuration.h"
#include "kube/write/writer.h"
#include "unit/http/fixture.h"
#include "unit/kube/api.h"

struct secrets_fixture {
    struct api api;
    struct api_call watches[2], call; /* the two watches, and the latest other call */
    struct kube_access access;        /* namespace "ns" */
    struct kube_client *client;
    struct writer *writer;
    struct configuration configuration;
    struct served served; /* not started */
};

/* Fails the test if it cannot set up the fixture. The fixture must not move. */
void secrets_fixture_init(struct secrets_fixture *f);
/* Free the certificates first. */
void secrets_fixture_done(struct secrets_fixture *f);

/* Stores `count` watches in f->watches, in any order of arrival; watch i is the one whose path
 * begins with paths[i]. */
void secrets_take_watches(struct secrets_fixture *f, const char *const paths[static 2], int count);

/* Stores the next request in f->call; requests about Events are answered and skipped. */
void secrets_expect(struct secrets_fixture *f, const char *method, const char *path);

/* Makes a watch deliver an object that we have received, with this version. */
void secrets_deliver(struct api_call *watch, const char *type, struct str object,
                     const char *version);
