#include <pthread.h>
#include <string.h>
#include <time.h>

#include "CBaseline.h"
#include "store.h"

/// What the writer, SQLite's hooks on its thread, and the observer's thread share.
typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /// Whether the transaction under way has changed the table. The writer's thread only.
    bool touched;
    /// How many commits were reported, and how many of the reports the observer has.
    size_t reported;
    size_t seen;
    /// When the observer had the last of them, in microseconds.
    double seen_at;
    bool ended;
} observation;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static void note_change(void *context, int operation, const char *database, const char *table, sqlite3_int64 row) {
    (void)operation, (void)database, (void)row;
    observation *self = context;
    if (strcmp(table, "person") == 0) self->touched = true;
}

/// SQLite calls it behind each commit. It takes the place of its own, which writes back what is in the log from so many pages on.
static int report(void *context, sqlite3 *connection, const char *database, int pages) {
    observation *self = context;
    if (self->touched) {
        self->touched = false;
        pthread_mutex_lock(&self->mutex);
        self->reported += 1;
        pthread_cond_broadcast(&self->changed);
        pthread_mutex_unlock(&self->mutex);
    }
    if (pages >= 4000) sqlite3_wal_checkpoint_v2(connection, database, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return SQLITE_OK;
}

static void *observe(void *context) {
    observation *self = context;
    pthread_mutex_lock(&self->mutex);
    while (!self->ended) {
        if (self->seen < self->reported) {
            self->seen = self->reported;
            self->seen_at = now();
            pthread_cond_broadcast(&self->changed);
        }
        pthread_cond_wait(&self->changed, &self->mutex);
    }
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

static bool update_people(
    cb_store *store, observation *self, const char *const *keys, size_t count, double *microseconds) {
    sqlite3_stmt *statement = cb_store_prepare(store, "UPDATE person SET age = age + 1 WHERE id = ?");
    if (!statement) return false;
    bool succeeded = true;
    for (size_t i = 0; i < count && succeeded; i++) {
        sqlite3_bind_text(statement, 1, keys[i], -1, SQLITE_STATIC);
        succeeded = cb_store_step(store, statement);
        double committed = now();
        pthread_mutex_lock(&self->mutex);
        // A key that isn't there has changed nothing, and would be waited for without end.
        succeeded = succeeded && self->reported == i + 1;
        while (succeeded && self->seen <= i) pthread_cond_wait(&self->changed, &self->mutex);
        microseconds[i] = self->seen_at > committed ? self->seen_at - committed : 0;
        pthread_mutex_unlock(&self->mutex);
    }
    sqlite3_finalize(statement);
    return succeeded || cb_store_fail(store, "update people");
}

bool cb_store_observe_updates(cb_store *store, const char *const *keys, size_t count, double *microseconds) {
    observation self = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    pthread_t observer;
    if (pthread_create(&observer, NULL, observe, &self) != 0) return cb_store_fail(store, "start a thread");
    sqlite3_update_hook(store->connection, note_change, &self);
    sqlite3_wal_hook(store->connection, report, &self);
    bool succeeded = update_people(store, &self, keys, count, microseconds);
    sqlite3_update_hook(store->connection, NULL, NULL);
    sqlite3_wal_autocheckpoint(store->connection, 4000);
    pthread_mutex_lock(&self.mutex);
    self.ended = true;
    pthread_cond_broadcast(&self.changed);
    pthread_mutex_unlock(&self.mutex);
    pthread_join(observer, NULL);
    return succeeded;
}
