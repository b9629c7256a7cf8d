#include <pthread.h>
#include <stdlib.h>

#include "CBaseline.h"
#include "memory.h"
#include "store.h"

typedef struct {
    cb_store *store;
    const char *const *keys;
    size_t count;
    size_t found;
    bool succeeded;
} client;

struct cb_clients {
    client *clients;
    size_t count;
};

cb_clients *cb_clients_open(const char *path, size_t count) {
    cb_clients *clients = cb_allocate(sizeof *clients);
    clients->clients = cb_allocate(count * sizeof *clients->clients);
    clients->count = count;
    for (size_t i = 0; i < count; i++) clients->clients[i] = (client){.store = cb_store_open(path)};
    return clients;
}

void cb_clients_close(cb_clients *clients) {
    for (size_t i = 0; i < clients->count; i++) cb_store_close(clients->clients[i].store);
    free(clients->clients);
    free(clients);
}

const char *cb_clients_error(const cb_clients *clients) {
    for (size_t i = 0; i < clients->count; i++) {
        const char *error = cb_store_error(clients->clients[i].store);
        if (error) return error;
    }
    return NULL;
}

static void *look_up(void *argument) {
    client *self = argument;
    self->succeeded = cb_store_look_up_people(self->store, self->keys, self->count, &self->found);
    return NULL;
}

bool cb_clients_look_up_people(cb_clients *clients, const char *const *keys, size_t count, size_t *found) {
    pthread_t *threads = cb_allocate(clients->count * sizeof *threads);
    size_t started = 0;
    bool succeeded = true;
    for (size_t i = 0; i < clients->count && succeeded; i++) {
        client *self = &clients->clients[i];
        size_t first = i * count / clients->count;
        self->keys = keys + first;
        self->count = (i + 1) * count / clients->count - first;
        succeeded = pthread_create(&threads[i], NULL, look_up, self) == 0;
        if (succeeded) started += 1;
    }
    *found = 0;
    for (size_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        *found += clients->clients[i].found;
        succeeded = succeeded && clients->clients[i].succeeded;
    }
    free(threads);
    return succeeded;
}
