/*
 * Parts that many kinds of objects have: metadata, labels, selectors, tolerations, amounts. The
 * *_read() functions are for rows (base/json_fields.h). Errors stay in the reader; texts are in
 * the document or in the reader's arena. Not thread-safe, because the reader is not.
 */
#pragma once

#include "base/json_fields.h"
#include "model/quantity.h"

void meta_read(struct json_reader *r, void *into);           /* struct object_meta */
void labels_read(struct json_reader *r, void *into);         /* struct labels */
void label_selector_read(struct json_reader *r, void *into); /* struct label_selector */
void tolerations_read(struct json_reader *r, void *into);    /* struct tolerations */

/*
 * Reads a quantity like quantity_decode(). A text that is no quantity leaves an error with code
 * -EDOM: a question with this text can still be answered. Another JSON type, or bad JSON, leaves
 * -EINVAL: the question is refused.
 */
struct quantity amount_decode(struct json_reader *r, struct str *ret_text);
