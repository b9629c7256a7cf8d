#ifndef CB_HISTORY_H
#define CB_HISTORY_H

#include "CBaseline.h"
#include "json.h"

typedef struct {
    cb_value value;
    size_t column;
} cb_field;

typedef struct {
    int64_t transaction;
    cb_value id;
    size_t table;
    /// The fields of the whole row after the operation; a delete has none.
    size_t first_field;
    size_t field_count;
    bool is_delete;
} cb_operation;

typedef struct {
    const char *name;
    const char **columns;
    size_t column_count;
    size_t column_capacity;
    /// `id`, or `_id` if rows have an `id` of their own that is something else.
    const char *key;
} cb_table;

struct cb_history {
    /// The file; names and values point into it.
    char *text;
    cb_table *tables;
    size_t table_count;
    size_t table_capacity;
    cb_operation *operations;
    size_t operation_count;
    size_t operation_capacity;
    cb_field *fields;
    size_t field_count;
    size_t field_capacity;
    char *error;
};

/// What is done around the operations of one `tx`. Both functions return whether they have succeeded.
typedef struct cb_group {
    bool (*begin)(struct cb_group *group, cb_store *store);
    bool (*end)(struct cb_group *group, cb_store *store);
} cb_group;

/// As `cb_store_apply_history`.
bool cb_store_apply_groups(
    cb_store *store, const cb_history *history, size_t operations_per_transaction, cb_group *group);

#endif
