/*
 * Reads and sets the log's level while the process runs, on the ops listener, for callers who may
 * read explanations (explain/access.h: the ctx of the handlers). The level lasts until the process
 * ends; the configuration does not change.
 */
#pragma once

#include "explain/access.h"

void log_level_get(void *ctx, const struct http_request *request, struct http_response *response);
void log_level_put(void *ctx, const struct http_request *request, struct http_response *response);
