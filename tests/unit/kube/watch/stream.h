/* Lines that an API server sends on a watch. */
#pragma once

#define STREAM "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
/* The bookmark that ends the list of existing objects. */
#define MARKER(version)                                                                            \
    EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"" version                              \
                      "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}")
