#include <stdlib.h>

#include "CBaseline.h"
#include "memory.h"
#include "store.h"

typedef struct {
    char *id;
    char *name;
    char *email;
    char *city;
    int64_t age;
    int64_t updated_at;
    double score;
    bool active;
} person;

struct cb_people {
    person *rows;
    size_t count;
    size_t capacity;
};

// MARK: Rows

cb_people *cb_people_create(size_t capacity) {
    cb_people *people = cb_allocate(sizeof *people);
    people->rows = cb_allocate(capacity * sizeof *people->rows);
    people->capacity = capacity;
    return people;
}

void cb_people_free(cb_people *people) {
    for (size_t i = 0; i < people->count; i++) {
        free(people->rows[i].id);
        free(people->rows[i].name);
        free(people->rows[i].email);
        free(people->rows[i].city);
    }
    free(people->rows);
    free(people);
}

void cb_people_add(
    cb_people *people, const char *id, const char *name, const char *email, int64_t age, const char *city,
    bool active, double score, int64_t updated_at) {
    people->rows = cb_grow(people->rows, people->count, &people->capacity, sizeof *people->rows);
    people->rows[people->count++] = (person){
        .id = cb_copy_text(id),
        .name = cb_copy_text(name),
        .email = cb_copy_text(email),
        .city = cb_copy_text(city),
        .age = age,
        .updated_at = updated_at,
        .score = score,
        .active = active,
    };
}

// MARK: Writing

static const char *const insert_sql =
    "INSERT INTO person (id, name, email, age, city, active, score, updatedAt) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

static const char *const upsert_sql =
    "INSERT INTO person (id, name, email, age, city, active, score, updatedAt) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT(id) DO UPDATE SET name = excluded.name, email = excluded.email, age = excluded.age, "
    "city = excluded.city, active = excluded.active, score = excluded.score, updatedAt = excluded.updatedAt";

bool cb_store_create_people(cb_store *store) {
    return cb_store_execute(
        store,
        "CREATE TABLE person (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, email TEXT NOT NULL, "
        "age INTEGER NOT NULL, city TEXT NOT NULL, active INTEGER NOT NULL, score REAL NOT NULL, "
        "updatedAt INTEGER NOT NULL)");
}

/// The rows outlive the statement, so SQLite needs no copy of their texts.
static void bind_person(sqlite3_stmt *statement, const person *row) {
    sqlite3_bind_text(statement, 1, row->id, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, row->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, row->email, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 4, row->age);
    sqlite3_bind_text(statement, 5, row->city, -1, SQLITE_STATIC);
    sqlite3_bind_int(statement, 6, row->active);
    sqlite3_bind_double(statement, 7, row->score);
    sqlite3_bind_int64(statement, 8, row->updated_at);
}

static bool write_transaction(cb_store *store, sqlite3_stmt *statement, const person *rows, size_t count) {
    if (!cb_store_execute(store, "BEGIN IMMEDIATE")) return false;
    bool succeeded = true;
    for (size_t i = 0; i < count && succeeded; i++) {
        bind_person(statement, &rows[i]);
        succeeded = cb_store_step(store, statement);
    }
    return cb_store_end_transaction(store, succeeded);
}

static bool write_people(cb_store *store, const cb_people *people, const char *sql, size_t rows_per_transaction) {
    sqlite3_stmt *statement = cb_store_prepare(store, sql);
    if (!statement) return false;
    bool succeeded = true;
    for (size_t first = 0; first < people->count && succeeded; first += rows_per_transaction) {
        size_t rest = people->count - first;
        size_t count = rest < rows_per_transaction ? rest : rows_per_transaction;
        succeeded = write_transaction(store, statement, people->rows + first, count);
    }
    sqlite3_finalize(statement);
    return succeeded;
}

bool cb_store_upsert_people(cb_store *store, const cb_people *people, size_t rows_per_transaction) {
    return write_people(store, people, upsert_sql, rows_per_transaction ? rows_per_transaction : 1);
}

bool cb_store_insert_people(cb_store *store, const cb_people *people) {
    return write_people(store, people, insert_sql, people->count ? people->count : 1);
}

// MARK: Reading

/// A sum over all columns of the row that a statement stands on, so that each is read.
static int64_t sum_of_person(sqlite3_stmt *statement) {
    static const int text_columns[] = {0, 1, 2, 4};
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof text_columns / sizeof *text_columns; i++) {
        const unsigned char *text = sqlite3_column_text(statement, text_columns[i]);
        sum += (text ? text[0] : 0) + sqlite3_column_bytes(statement, text_columns[i]);
    }
    sum += sqlite3_column_int64(statement, 3) + sqlite3_column_int(statement, 5);
    return sum + (int64_t)sqlite3_column_double(statement, 6) + sqlite3_column_int64(statement, 7);
}

bool cb_store_look_up_people(cb_store *store, const char *const *keys, size_t count, size_t *found) {
    *found = 0;
    sqlite3_stmt *statement = cb_store_prepare(
        store, "SELECT id, name, email, age, city, active, score, updatedAt FROM person WHERE id = ?");
    if (!statement) return false;
    bool succeeded = true;
    for (size_t i = 0; i < count && succeeded; i++) {
        sqlite3_bind_text(statement, 1, keys[i], -1, SQLITE_STATIC);
        int result = sqlite3_step(statement);
        if (result == SQLITE_ROW && sum_of_person(statement) != 0) *found += 1;
        succeeded = result == SQLITE_ROW || result == SQLITE_DONE || cb_store_fail(store, "look people up");
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return succeeded;
}

bool cb_store_read_people(cb_store *store, size_t *count, int64_t *checksum) {
    *count = 0;
    *checksum = 0;
    sqlite3_stmt *statement =
        cb_store_prepare(store, "SELECT id, name, email, age, city, active, score, updatedAt FROM person ORDER BY id");
    if (!statement) return false;
    int result;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
        *checksum += sum_of_person(statement);
        *count += 1;
    }
    if (result != SQLITE_DONE) cb_store_fail(store, "read people");
    sqlite3_finalize(statement);
    return result == SQLITE_DONE;
}
