// Shapes: the common properties of events of one kind, interned.
#include "capture_internal.h"

int capture_add_shape(storage_capture *capture, const captured_table *table, uint32_t operation, const uint64_t *mask) {
    if (!reserve((void **)&capture->shapes, &capture->shape_capacity, capture->shape_count + 1, sizeof(storage_shape))) return -1;
    uint32_t count = 0;
    uint32_t *columns = malloc(sizeof(uint32_t) * (table->column_count ? table->column_count : 1));
    if (!columns) return -1;
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i] || table->key_indices[i]) continue;
        if (mask && !(mask[i / 64] >> (i % 64) & 1)) continue;
        columns[count++] = table->columns[i];
    }
    capture->shapes[capture->shape_count] =
        (storage_shape){table->entity, operation, table->key_count, count, columns};
    return (int)capture->shape_count++;
}

static uint64_t mask_hash(const uint64_t *mask, uint32_t words) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < words; i++) hash = (hash ^ mask[i]) * 0x9E3779B97F4A7C15ull;
    return hash ^ hash >> 32;
}

static int grow_updates(captured_table *table) {
    size_t capacity = table->update_capacity ? table->update_capacity * 2 : 16;
    update_shape *slots = calloc(capacity, sizeof *slots);
    if (!slots) return 0;
    for (size_t i = 0; i < table->update_capacity; i++) {
        if (!table->updates[i].mask) continue;
        size_t slot = mask_hash(table->updates[i].mask, table->words) & (capacity - 1);
        while (slots[slot].mask) slot = (slot + 1) & (capacity - 1);
        slots[slot] = table->updates[i];
    }
    free(table->updates);
    table->updates = slots;
    table->update_capacity = capacity;
    return 1;
}

int capture_shape_of_update(storage_capture *capture, captured_table *table) {
    if (table->update_count * 2 >= table->update_capacity && !grow_updates(table)) return -1;
    size_t slot = mask_hash(capture->mask, table->words) & (table->update_capacity - 1);
    while (table->updates[slot].mask) {
        if (memcmp(table->updates[slot].mask, capture->mask, table->words * 8) == 0) return (int)table->updates[slot].shape;
        slot = (slot + 1) & (table->update_capacity - 1);
    }
    uint64_t *mask = malloc(table->words * 8);
    if (!mask) return -1;
    int shape = capture_add_shape(capture, table, STORAGE_UPDATE, capture->mask);
    if (shape < 0) {
        free(mask);
        return -1;
    }
    memcpy(mask, capture->mask, table->words * 8);
    table->updates[slot] = (update_shape){mask, (uint32_t)shape};
    table->update_count++;
    return shape;
}
